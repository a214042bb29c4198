/**
 * Runs the service against one daemon: measures how fast it syncs compared with eight bare connections, whether the stores answer like the
 * daemon, and how long a new block takes to reach a client. It only reads from the daemon.
 */
import type { Logger } from 'pino';
import { Pool } from 'undici';
import { startApi } from '../../api/server.ts';
import { openStream } from '../../client/stream/stream.ts';
import { openResources } from '../../commands/open-resources.ts';
import { runStages } from '../../commands/run-stages.ts';
import { loadConfig } from '../../infra/config/load-config.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { parseDaemonAddress } from '../../infra/verusd/daemon-address.ts';
import { DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import type { DaemonNotifications } from '../../infra/verusd/daemon-notifications.ts';
import { createVerusdClient, type VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { openZmqNotifications } from '../../infra/verusd/zmq-notifications.ts';
import { createStageReporter } from '../../pipeline/stage/stage-reporter.ts';
import type { ChainConfig, Config } from '../../schemas/config.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';
import { connectedBlock } from '../../schemas/verusd/zmq-message.ts';
import type { ComparedAnswer, Ours } from '../daemon-equality/comparison.ts';
import { LIVE_COMPARISONS, type LiveComparison } from './live-comparisons.ts';

export interface RealDaemonOptions {
  readonly rpc: string;
  /** Address of the daemon's ZMQ publisher. */
  readonly zmq: string | null;
  /** Data folder; an earlier sync in it is continued. */
  readonly folder: string;
  /** Samples of each kind. */
  readonly samples: number;
  /** Number of new blocks whose time to a client is measured. */
  readonly blocks: number;
  readonly logger: Logger;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

const BARE_BLOCKS = 2_000;
const CONNECTIONS = 8;
const PROGRESS_MS = 10_000;
const LOOK_MS = 50;
/** Attempts per answer, because the tip may move during a comparison. */
const TRIES = 10;
const SHOWN = 3;

/** Resolves with the number of answers that differ. */
export async function tryDaemon(options: RealDaemonOptions): Promise<number> {
  const { print, logger } = options;
  const client = createVerusdClient({ rpc: options.rpc, chain: 'daemon', logger });
  try {
    const { name, VRSCversion, blocks } = (await client.call('getinfo', [])) as Readonly<Record<string, unknown>>;
    print(`${client.address} follows ${name}, version ${VRSCversion}, at block ${blocks}`);
    await printBareRate(options, Number(blocks));
    return await withService(options, configOf(options, String(name)), client);
  } finally {
    await client.close();
  }
}

function configOf({ rpc, zmq, folder }: RealDaemonOptions, rootCurrency: string): Config {
  const networkRoot = rootCurrency.endsWith('TEST') ? 'VRSCTEST' : 'VRSC';
  const chain = { name: rootCurrency.toLowerCase(), rpc, rootCurrency, networkRoot, ...(zmq !== null && { zmq }) };
  const loaded = loadConfig({ DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn', VERUSD_VRSC: rpc });
  const [defaults] = loaded.chains;
  return { ...loaded, chains: [{ ...(defaults as ChainConfig), stableAnchors: [], ...chain }] };
}

async function printBareRate({ rpc, print }: RealDaemonOptions, blocks: number): Promise<void> {
  const { origin, authorization } = parseDaemonAddress(rpc);
  const pool = new Pool(origin, { connections: CONNECTIONS });
  const headers = { 'content-type': 'application/json', ...(authorization !== null && { authorization }) };
  const count = Math.min(BARE_BLOCKS, blocks + 1);
  let next = 0;
  const began = performance.now();
  const connection = async (): Promise<void> => {
    while (next < count) {
      const body = JSON.stringify({ id: next, method: 'getblock', params: [String(next++), 2] });
      const reply = await pool.request({ path: '/', method: 'POST', headers, body });
      await reply.body.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  print(`bare: ${CONNECTIONS} connections fetch the first ${count} blocks at ${rateOf(count, began)} blocks/s`);
  await pool.destroy();
}

const rateOf = (blocks: number, began: number) => (blocks / ((performance.now() - began) / 1000)).toFixed(0);

async function withService(options: RealDaemonOptions, config: Config, client: VerusdClient): Promise<number> {
  const { logger, print } = options;
  const [chain] = config.chains;
  if (!chain) throw new TypeError('no chain');
  const { stores, log, close } = await openResources(config, logger);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const daemons = new Map([[chain.name, createVerusdClient({ rpc: options.rpc, chain: chain.name, logger })]]);
  const notifications = new Map<string, DaemonNotifications>();
  const { name, blockSeconds } = chain;
  if (options.zmq !== null) {
    const addresses = [options.zmq];
    notifications.set(name, await openZmqNotifications({ chain: name, addresses, blockSeconds, logger }));
  }
  const reporter = createStageReporter(stores.postgres, logger);
  const ours: Ours = { ...stores, chain: name, native: nativeCurrencyId(chain), root: chain.rootCurrency };
  const from = (await derived(ours))?.height ?? -1;
  const topics = createTopicReader(log);
  const stages = runStages({ config, stores, log, topics, daemons, notifications, reporter, logger, signal });
  const api = await startApi({ config, release: 'real-daemon', stores, topics, daemons, logger, signal });
  try {
    await printSync(options, ours, client, from);
    await printLatencies(options, `http://127.0.0.1:${api.port}`, notifications.get(name), client);
    const differing = await printComparisons(options, ours, client);
    const state = notifications.get(name)?.publishers()[0]?.state;
    print(state === undefined ? 'no ZMQ publisher was given: the daemon was polled' : `the ZMQ publisher is ${state}`);
    return differing;
  } finally {
    stop.abort();
    await api.close();
    await stages;
    await reporter.close();
    for (const heard of notifications.values()) await heard.close();
    for (const daemon of daemons.values()) await daemon.close();
    await close();
  }
}

async function derived({ postgres, chain }: Ours): Promise<{ readonly height: number; readonly hash: string } | null> {
  const sql = 'SELECT height, hash FROM blocks WHERE chain = $1 ORDER BY height DESC LIMIT 1';
  return (await postgres.pool.query<{ height: number; hash: string }>(sql, [chain])).rows[0] ?? null;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Resolves when the stores have the daemon's tip. */
async function printSync(
  { print, signal }: RealDaemonOptions,
  ours: Ours,
  client: VerusdClient,
  from: number,
): Promise<void> {
  const began = performance.now();
  let shownAt = began;
  for (;;) {
    signal.throwIfAborted();
    const [tip, best] = [await derived(ours), await client.call('getbestblockhash', [])];
    const done = (tip?.height ?? -1) - from;
    if (tip && tip.hash === best)
      return print(`sync: ${done} blocks into the stores at ${rateOf(done, began)} blocks/s`);
    if (performance.now() - shownAt > PROGRESS_MS) {
      shownAt = performance.now();
      print(`  at block ${tip?.height ?? -1}, ${rateOf(done, began)} blocks/s`);
    }
    await pause(LOOK_MS);
  }
}

/** Compares while the daemon and the stores are at the same tip. */
async function settled(
  ours: Ours,
  client: VerusdClient,
  { compare }: LiveComparison,
  sample: string,
): Promise<ComparedAnswer> {
  for (let tried = 0; ; tried += 1) {
    const tip = await derived(ours);
    const best = await client.call('getbestblockhash', []);
    if (tip && tip.hash === best) {
      const compared = await compare(ours, { client, height: tip.height }, sample);
      if ((await client.call('getbestblockhash', [])) === best) return compared;
    }
    if (tried === TRIES) throw new Error(`the tip moved ${TRIES} times while ${sample} was compared`);
    await pause(LOOK_MS * 2 ** tried);
  }
}

async function printComparisons(options: RealDaemonOptions, ours: Ours, client: VerusdClient): Promise<number> {
  const { print, samples, signal } = options;
  let differing = 0;
  print('answers of the daemon compared with the stores:');
  for (const comparison of LIVE_COMPARISONS) {
    const wrong: ComparedAnswer[] = [];
    const asked = await comparison.samples(ours, samples);
    let refused = 0;
    for (const sample of asked) {
      signal.throwIfAborted();
      const compared = await settled(ours, client, comparison, sample).catch((error: unknown) => {
        if (error instanceof DaemonRpcError) return null;
        throw error;
      });
      if (compared === null) refused += 1;
      else if (compared.expected !== compared.ours) wrong.push(compared);
    }
    const note = refused > 0 ? `, ${refused} refused by the daemon` : '';
    print(`  ${comparison.method}: ${asked.length - refused} compared, ${wrong.length} differ${note}`);
    for (const { asked: about, expected, ours: own } of wrong.slice(0, SHOWN)) {
      print(`    ${about}\n      daemon ${expected.slice(0, 300)}\n      stores ${own.slice(0, 300)}`);
    }
    differing += wrong.length;
  }
  return differing;
}

/** Measured from the ZMQ notification, or without a publisher from a poll twenty times a second. */
async function printLatencies(
  { print, blocks, signal }: RealDaemonOptions,
  baseUrl: string,
  heard: DaemonNotifications | undefined,
  client: VerusdClient,
): Promise<void> {
  if (blocks === 0) return;
  const knownAt = new Map<string, number>();
  const times: number[] = [];
  const stop = new AbortController();
  const know = (hash: string | null) =>
    void (hash !== null && !knownAt.has(hash) && knownAt.set(hash, performance.now()));
  const unsubscribe = heard?.subscribe((notification) => know(connectedBlock(notification)));
  know(String(await client.call('getbestblockhash', [])));
  const looking = (async () => {
    while (!stop.signal.aborted && !heard) {
      know(String(await client.call('getbestblockhash', [])));
      await pause(LOOK_MS);
    }
  })();
  print(`waiting for ${blocks} new blocks …`);
  const stream = openStream({ baseUrl, channels: ['blocks'], signal: AbortSignal.any([signal, stop.signal]) });
  for await (const event of stream) {
    const at = event.type === 'block' ? knownAt.get(event.data.hash) : undefined;
    if (at === undefined) continue;
    times.push(performance.now() - at);
    if (times.length === blocks) break;
  }
  stop.abort();
  unsubscribe?.();
  await looking;
  times.sort((a, b) => a - b);
  const from = heard ? 'from its notification' : `from a poll every ${LOOK_MS} ms`;
  const middle = times[Math.floor(times.length / 2)] ?? 0;
  print(`a block reaches a client in ${middle.toFixed(0)} ms, at most ${(times.at(-1) ?? 0).toFixed(0)} ms, ${from}`);
}
