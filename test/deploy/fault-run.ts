/** One program with a chain for each chain fault, on stores that can be made to fail; provides its metrics during each fault. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { NATIVE } from '../generator/addresses.ts';
import type { GeneratedBlock } from '../generator/chain.ts';
import { type FaultName, startFailingStores } from '../system/failing-stores.ts';
import { startProgram, until } from '../system/program.ts';
import { settingsForAll, temporaryFolder } from '../system/recorded-chain.ts';
import { type AlertFault, CHAIN_FAULTS, type ServiceFault } from './alert-faults.ts';
import { disturbances } from './disturbances.ts';
import { type FaultyChain, startFaultyChain } from './faulty-daemon.ts';
import { type Scraped, scrape } from './scraped-series.ts';

export interface FaultRun {
  /** Begins all chain faults, and waits until each has arrived. */
  ofChains(): Promise<Scraped>;
  /** Runs one fault of the whole service from its beginning to its end. */
  ofService(fault: AlertFault & { readonly name: ServiceFault }): Promise<Scraped>;
  stop(): Promise<void>;
}

/** Causes a fault, which lasts until `lift` or to the end of the run. */
interface Injected {
  readonly begin: () => Promise<void>;
  /** Repeated until the metrics show the fault. */
  readonly again?: () => Promise<unknown>;
  readonly lift?: () => Promise<void>;
}

type ChainName = (typeof CHAIN_FAULTS)[number]['chain'];

/** One seed for all chains, so that their clocks agree and no chain waits for another before a fault. */
const SEED = 5;
const BLOCKS = 60;
const FINALITY = 10;
const BETWEEN_SCRAPES_MS = 1500;
/** A momentary disturbance ends within this time; the alerts must show a longer one. */
const SETTLE_MS = 60_000;
const REQUESTS = 8;
const LONGEST_MS = 300_000;
const NOT_READY = /^verustream_unready_reason\{(?!.*code="stalled").*\} 1$/m;
const FOR_LONG = { kind: 'delay', ms: 50_000 } as const;
const PRELOADED = `--import ${new URL('./full-disk.mjs', import.meta.url).href}`;

/** Settings in addition to the common ones. */
const CHAIN_SETTINGS: Partial<Record<ChainName, object>> = {
  // A standstill is 20 block times.
  dead: { blockSeconds: 1 },
  still: { blockSeconds: 1 },
  rewound: { finalityDepth: FINALITY },
};

const withoutOutputs = ({ text }: GeneratedBlock): string => text.replace('"vout":', '"outputs":');

export async function startFaultRun(): Promise<FaultRun> {
  const folder = temporaryFolder();
  const stores = await startFailingStores(folder);
  const chains = new Map<string, FaultyChain>();
  for (const { chain: name } of CHAIN_FAULTS) {
    const daemons = name === 'pair' ? 2 : 1;
    chains.set(name, await startFaultyChain({ seed: SEED, blocks: BLOCKS, daemons }));
  }
  const chain = (name: ChainName): FaultyChain => chains.get(name) as FaultyChain;
  chain('rich').wallet.balance = 1;

  const configured = CHAIN_FAULTS.map(({ chain: name }) => ({
    name,
    rpc: chain(name).daemons.map(({ rpc }) => rpc),
    stableAnchors: [NATIVE],
    minBasketAge: 2,
    ...CHAIN_SETTINGS[name],
  }));
  const fullDisk = join(folder, 'disk-is-full');
  const program = startProgram(
    {
      ...settingsForAll(configured, { minBasketDepthUsd: 0 }),
      ...stores.settings,
      METRICS_PORT: '0',
      NODE_OPTIONS: PRELOADED,
      FULL_DISK: fullDisk,
    },
    { lives: 'file' },
  );
  await program.answers();
  const metricsPort = () => /"port":(\d+),"msg":"metrics are served"/.exec(program.output())?.[1];
  await until('the metrics are served', () => metricsPort() !== undefined);
  const address = `127.0.0.1:${metricsPort()}`;

  const explained = async (error: unknown): Promise<never> => {
    throw new Error(`${String(error)}\n${await scrape(address)}\n${program.output().slice(-5000)}`);
  };

  const shown = async (
    { shows, name }: Pick<AlertFault, 'shows' | 'name'>,
    again: Injected['again'] = async () => undefined,
  ): Promise<void> => {
    await until(
      `the metrics show that ${name}`,
      async () => {
        const text = (await scrape(address)) ?? '';
        const isShown = shows.every((shown) => shown.test(text));
        if (!isShown) await again();
        return isShown;
      },
      LONGEST_MS,
    ).catch(explained);
  };

  /**
   * Scrapes twice. Repeats the second scrape while it shows trouble that no fault explains, because this process or a store paused for a
   * moment.
   */
  async function scrapedTwice(
    faults: readonly AlertFault[],
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<Scraped> {
    const first = await scrape(address);
    const began = performance.now();
    await between();
    await sleep(BETWEEN_SCRAPES_MS);
    let second = await scrape(address);
    const settled = performance.now() + SETTLE_MS;
    while (faults.some((fault) => disturbances(second, fault).length > 0) && performance.now() < settled) {
      await sleep(BETWEEN_SCRAPES_MS);
      second = await scrape(address);
    }
    return { instance: 'all:9464', role: 'all', first, second, seconds: (performance.now() - began) / 1000 };
  }

  await until(
    'every chain has its first blocks, and is ready but for a standstill',
    async () => {
      const text = (await scrape(address)) ?? '';
      // The newest block of each chain waits for a later block of another chain.
      const isPriced = ({ chain: name }: { chain: string }) =>
        text.includes(`verustream_stage_height{chain="${name}",stage="price"} ${BLOCKS - 2}\n`);
      return CHAIN_FAULTS.every(isPriced) && !NOT_READY.test(text);
    },
    LONGEST_MS,
  ).catch(explained);
  await shown({ name: 'all wallets are known', shows: [/wallet_holds\{chain="quiet",daemon="1"\} 0/] });

  async function alter(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: stores.settings.DATABASE_URL });
    await client.connect();
    const { rowCount } = await client.query(sql);
    await client.end();
    if (!rowCount) throw new Error(`nothing was altered: ${sql}`);
  }

  const quiet = chain('quiet');
  const ask = (path: string) => program.get(`${path}?chain=quiet`).catch(() => null);
  const askRaw = (times: number) => Promise.all(Array.from({ length: times }, () => ask('/api/blocks/5/raw')));
  const behaving = async () => quiet.misbehave(null);
  const store = (name: FaultName) => stores.faults[name];
  const service: Record<ServiceFault, Injected> = {
    'one request of 300 fails': {
      async begin() {
        for (let asked = 0; asked < 300; asked += 10) {
          await Promise.all(Array.from({ length: 10 }, () => ask('/api/blocks/')));
        }
        quiet.misbehave({ kind: 'garbage' }, 'getblock');
        await askRaw(1);
      },
      lift: behaving,
    },
    'requests fail': {
      async begin() {
        quiet.misbehave({ kind: 'garbage' }, 'getblock');
        await askRaw(REQUESTS);
      },
      lift: behaving,
    },
    'requests take seconds': {
      async begin() {
        quiet.misbehave({ kind: 'delay', ms: 1500 }, 'getblock');
        await askRaw(REQUESTS);
      },
      again: () => askRaw(REQUESTS),
      lift: behaving,
    },
    'the disk of the data folder is full': {
      async begin() {
        writeFileSync(fullDisk, '');
        quiet.grow(1);
      },
      async lift() {
        rmSync(fullDisk);
        await shown({ name: 'the disk has room again', shows: [/cause="log_storage_full"\} 0$/m] });
      },
    },
    'ClickHouse has no disk space': store('ClickHouse has no disk space'),
    'ClickHouse cannot be reached': {
      begin: store('ClickHouse cannot be reached').begin,
      async lift() {
        await store('ClickHouse cannot be reached').lift();
        await shown({ name: 'ClickHouse is back', shows: [/code="clickhouse_unreachable",cause=""\} 0$/m] });
      },
    },
    'Postgres cannot be reached': {
      async begin() {
        await store('Postgres cannot be reached').begin();
        await Promise.all(Array.from({ length: REQUESTS }, (_, number) => ask(`/api/blocks/${number}`)));
      },
    },
    'the process is killed': { begin: async () => void (await program.kill('SIGKILL')) },
  };

  return {
    async ofChains() {
      await chain('dead').daemons[0]?.down();
      chain('hung').misbehave(FOR_LONG);
      Object.assign(chain('foreign').info, { name: 'VRSC', chainid: 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV' });
      await chain('pair').daemons[1]?.down();
      chain('rewound').reorganise(FINALITY + 5);
      chain('undecodable').reprint = withoutOutputs;
      chain('undecodable').grow(1);
      chain('ahead').grow(40);
      await alter(`UPDATE blocks SET fees = fees + 1 WHERE chain = 'parted' AND height = 3`);
      await alter(`DELETE FROM stamps WHERE chain = 'unstamped' AND reason IS DISTINCT FROM 'no_delivery'`);
      for (const fault of CHAIN_FAULTS) if (fault.chain !== 'slow') await shown(fault);
      // Last, because the chain catches up by a block after each delay.
      chain('slow').misbehave(FOR_LONG, 'getblock');
      chain('slow').grow(30);
      for (const fault of CHAIN_FAULTS) if (fault.chain === 'slow') await shown(fault);
      return scrapedTwice(CHAIN_FAULTS);
    },
    async ofService(fault) {
      const { begin, again, lift } = service[fault.name];
      const scraped = await scrapedTwice([fault], async () => {
        await begin();
        await shown(fault, again);
      });
      await lift?.();
      return scraped;
    },
    async stop() {
      await program.kill('SIGKILL');
      for (const each of chains.values()) await each.stop();
      await stores.stop();
    },
  };
}
