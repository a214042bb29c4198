/** Brings about each state in the table of docs/health.md, and checks that everything reports what its row says. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ClickHouseDamaged,
  ClickHouseOverloaded,
  ClickHouseUnreachable,
} from '../../infra/clickhouse/clickhouse-errors.ts';
import type { PublisherState } from '../../schemas/daemon-status.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import type { ReportingStage } from '../../schemas/stages.ts';
import { ROOT } from '../house/source-files.ts';
import type { DaemonFault, ScriptedDaemon } from '../support/infra/verusd/scripted-daemon.ts';
import { type HealthWorld, type Ready, startHealthWorld, TIP } from './health-world.ts';

let world: HealthWorld;
beforeAll(async () => {
  world = await startHealthWorld();
});
afterAll(() => world?.stop());

interface Scenario {
  readonly begin: () => Promise<void> | void;
  readonly lift?: () => Promise<unknown> | unknown;
  /** Checks what the table does not contain. */
  readonly also?: (ready: Ready) => Promise<void> | void;
}

const LONG_AGO = '2020-01-01T00:00:00.000Z';
const errorOf = (code: string) => ({ code, message: 'for the operator' });

const says = (changes: Partial<Record<ReportingStage, Partial<StageStatus>>>): Scenario => ({
  begin: () => world.say('vrsc', changes),
  lift: () => world.say('vrsc'),
});

const ofBothDaemons = (changes: Pick<Partial<ScriptedDaemon>, 'fault' | 'refuses'>) => () => {
  for (const daemon of world.daemons) Object.assign(daemon, changes);
};
const daemonsDo = (fault: DaemonFault): Scenario => ({
  begin: ofBothDaemons({ fault: () => fault }),
  lift: ofBothDaemons({ fault: () => null }),
});

const daemonsTell = (info: Partial<HealthWorld['info']>): Scenario => {
  const before: Partial<HealthWorld['info']> = {};
  return {
    begin() {
      Object.assign(before, world.info);
      Object.assign(world.info, info);
    },
    lift: () => Object.assign(world.info, before),
  };
};

const DEAD: Scenario = {
  begin: async () => void (await Promise.all(world.daemons.map((daemon) => daemon.down()))),
  lift: () => Promise.all(world.daemons.map((daemon) => daemon.up())),
};

/** Replaces methods of a store. */
function replaced<T extends object>(of: () => T, changes: Partial<T>): Scenario {
  const before: Partial<T> = {};
  return {
    begin() {
      for (const name of Object.keys(changes) as (keyof T)[]) before[name] = of()[name];
      Object.assign(of(), changes);
    },
    lift: () => Object.assign(of(), before),
  };
}

function postgresSays(sqlState: string): Scenario {
  const error = Object.assign(new pg.DatabaseError('the words of the server', 0, 'error'), { code: sqlState });
  return replaced(() => world.stores.postgres.pool, { query: () => Promise.reject(error) });
}
function clickhouseFails(error: Error): Scenario {
  return replaced(() => world.stores.clickhouse, { query: () => Promise.reject(error) });
}

/** Postgres, unchanged except that it reports that it takes no writes. */
function readOnly(): Scenario {
  let query: pg.Pool['query'];
  return {
    begin() {
      const { pool } = world.stores.postgres;
      query = pool.query;
      const answer = (...asked: [{ readonly text?: string }, ...unknown[]]) =>
        asked[0].text?.includes('transaction_read_only')
          ? Promise.resolve({ rows: [{ held: true }] })
          : Reflect.apply(query, pool, asked);
      Object.assign(pool, { query: answer });
    },
    lift: () => Object.assign(world.stores.postgres.pool, { query }),
  };
}

const publisherIs = (state: PublisherState): Scenario => ({
  begin: () => void Object.assign(world.said, { publisher: { state, heardAt: null } }),
  lift: () => delete world.said.publisher,
});

let giveReadersBack: () => void;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'all is well': { begin: () => world.say('vrsc') },
  'a recording is played to its end': says({ tail: { state: 'ended', movedAt: LONG_AGO } }),
  'blocks came in a burst and are taken in within 3 s': {
    async begin() {
      Object.assign(world.info, { blocks: TIP + 50, longestchain: TIP + 50 });
      await world.say('vrsc', { tail: { state: 'catching_up', targetHeight: TIP + 50 } });
      await expect.poll(() => world.chainStatus('vrsc')).toMatchObject({ height: TIP + 50 });
      await world.pass(2.9);
      expect(await world.ready()).toMatchObject({ status: 200, reasons: [] });
      Object.assign(world.info, { blocks: TIP, longestchain: TIP });
      await world.say('vrsc');
      await expect.poll(() => world.chainStatus('vrsc')).toMatchObject({ height: TIP });
      await world.pass(20);
    },
  },
  'a stage has never started': {
    begin: async () => {
      await world.stores.postgres.pool.query(`DELETE FROM stage_status WHERE stage = 'derive' AND chain = 'vrsc'`);
    },
    lift: () => world.say('vrsc'),
  },
  'a stage is starting': says({ tail: { state: 'starting' } }),
  'a chain is catching up, as in a first sync': {
    async begin() {
      Object.assign(world.info, { blocks: TIP + 3000, longestchain: TIP + 3000 });
      const tail = { state: 'catching_up', targetHeight: TIP + 3000, rate: 50 } as const;
      await world.say('vrsc', { tail, derive: { rate: 100 } });
    },
    async lift() {
      Object.assign(world.info, { blocks: TIP, longestchain: TIP });
      await world.say('vrsc');
    },
    also: ({ reasons }) => expect(reasons).toMatchObject([{ etaSeconds: 60 }]),
  },
  'the daemon is dead': DEAD,
  'the daemon hangs': daemonsDo({ kind: 'delay', ms: 60_000 }),
  'the daemon refuses the password': {
    begin: ofBothDaemons({ refuses: true }),
    lift: ofBothDaemons({ refuses: false }),
  },
  'the daemon loads its index': daemonsDo({ kind: 'error', code: -28, message: 'Loading block index...' }),
  'the daemon answers what is no answer': daemonsDo({ kind: 'garbage' }),
  'the daemon answers with an HTTP error': daemonsDo({ kind: 'http', status: 500, body: 'Work queue depth exceeded' }),
  'the daemon refuses the call': daemonsDo({ kind: 'error', code: -1, message: 'no' }),
  'the daemon serves another chain': daemonsTell({ chainid: 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV' }),
  'the daemon is behind its peers': daemonsTell({ longestchain: TIP + 3 }),
  'one daemon of several is not well, in any of these ways': {
    begin: () => world.daemons[1].down(),
    lift: () => world.daemons[1].up(),
  },
  'the daemon lacks blocks of the log': says({ tail: { state: 'waiting', error: errorOf('daemon_behind') } }),
  'a stage waits with an error': says({ derive: { state: 'waiting', error: errorOf('log_unreachable') } }),
  'a stage has stopped': says({ tail: { state: 'stopped', error: errorOf('rewind_too_deep') } }),
  'the process of a stage is dead or hangs': {
    begin: async () => {
      await world.stores.postgres.pool.query(
        `UPDATE stage_status SET status = status || '{"reporter": "another"}', updated_at = now() - interval '11 s'
         WHERE stage = 'tail' AND chain = 'vrsc'`,
      );
    },
    lift: () => world.say('vrsc'),
  },
  'the chain stands still: no block for 20 block times': says({ tail: { movedAt: LONG_AGO } }),
  'what arrived is not derived for 20 block times': says({
    tail: { height: TIP + 1, targetHeight: TIP + 1 },
    derive: { movedAt: LONG_AGO },
  }),
  'prices wait for the clock of another chain': says({
    price: { state: 'waiting', waitsFor: 'chips', aheadBlocks: 40 },
  }),
  'a ZMQ publisher does not name the blocks that come': publisherIs('silent'),
  'a ZMQ publisher cannot be reached': publisherIs('unreachable'),
  'another chain is not ready': {
    begin: () => world.say('chips', { derive: { state: 'stopped', error: errorOf('log_gap') } }),
    lift: () => world.say('chips'),
    also: async () => expect(await world.ready()).toMatchObject({ status: 503, reasons: [{ chain: 'chips' }] }),
  },
  'the cause of a reason has gone, less than 10 s ago': {
    async begin() {
      await DEAD.begin();
      await expect.poll(async () => (await world.ready()).status).toBe(503);
      await DEAD.lift?.();
      await expect.poll(async () => (await world.ready()).reasons[0]?.goneSince).toEqual(expect.any(String));
    },
  },
  'Postgres does not answer': replaced(() => world.stores.postgres.pool, {
    query: () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
  }),
  'Postgres is starting': postgresSays('57P03'),
  'Postgres has no connection left': postgresSays('53300'),
  'Postgres takes no writes': readOnly(),
  'Postgres lacks disk space or memory': postgresSays('53100'),
  'requests have no connection to Postgres': {
    begin: async () => {
      giveReadersBack = await world.takeReaders();
    },
    lift: () => giveReadersBack(),
  },
  'ClickHouse cannot be reached': clickhouseFails(new ClickHouseUnreachable('away', null)),
  'ClickHouse does not answer in time': replaced(() => world.stores.clickhouse, { query: () => new Promise(() => {}) }),
  'ClickHouse lacks disk space, memory or time': clickhouseFails(new ClickHouseOverloaded('full', null)),
  'ClickHouse cannot read what it stored': replaced(() => world.stores.clickhouse, {
    damage: () => new ClickHouseDamaged('a part', null),
  }),
  'a store fails otherwise': clickhouseFails(new Error('never seen before')),
};

interface Row {
  readonly state: string;
  readonly health: string;
  readonly ready: readonly string[];
  /** Empty if the command fails. */
  readonly status: readonly string[];
  readonly metrics: readonly string[];
}

const quoted = (cell: string | undefined) => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '');

function rowsOfTheTable(): Row[] {
  const page = readFileSync(`${ROOT}/docs/health.md`, 'utf8');
  const lines = page
    .slice(page.indexOf('|---'))
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return lines.map((line) => {
    const [, state = '', health, ready, status, metrics] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [word = ''] = quoted(health);
    return { state, health: word, ready: quoted(ready), status: quoted(status), metrics: quoted(metrics) };
  });
}

/** Differences from the row; empty if there are none. */
async function differences(row: Row): Promise<string[]> {
  const [ready, health, metrics] = [await world.ready('vrsc'), await world.health(), await world.metrics()];
  const [wanted, code] = row.ready;
  const listed = [...ready.reasons, ...ready.notes];
  const lines = metrics.split('\n');
  const found = [
    health === row.health ? '' : `health says ${health}`,
    String(ready.status) === wanted ? '' : `ready says ${ready.status}`,
    listed.map((each) => each.code).join() === (code ?? '') ? '' : `ready names ${JSON.stringify(listed)}`,
    ...row.metrics.map((line) => (lines.includes(line) ? '' : `no ${line}`)),
    await statusDiffers(row),
  ];
  return found.filter((difference) => difference !== '');
}

async function statusDiffers({ status: [code, word = ''] }: Row): Promise<string> {
  const said = await world.status().catch((error: unknown) => ({ code: 'error', text: String(error) }));
  if (code === undefined) return '';
  return String(said.code) === code && said.text.includes(word) ? '' : `status ends with ${said.code}: ${said.text}`;
}

const ROWS = rowsOfTheTable();

it('the table and this test know the same states', () => {
  expect(ROWS.map(({ state }) => state)).toEqual(Object.keys(SCENARIOS));
});

it.each(ROWS.map((row) => [row.state, row] as const))('%s', async (state, row) => {
  const { begin, lift, also } = SCENARIOS[state] as Scenario;
  await begin();
  const settled = async () => {
    const found = await differences(row);
    // A state that may pass by itself is reported only after a moment; a cause that has gone would be forgotten meanwhile.
    if (found.length > 0 && !state.includes('has gone')) await world.pass(1);
    return found;
  };
  await expect.poll(settled, { interval: 20 }).toEqual([]);
  const ready = await world.ready('vrsc');
  await also?.(ready);
  const chain = await world.chainStatus('vrsc');
  if (chain) expect(chain.healthy).toBe(ready.status === 200);

  await lift?.();
  if (ready.status === 503) {
    const goneSince = async () => (await world.ready('vrsc')).reasons.map((reason) => reason.goneSince);
    await expect.poll(goneSince, { interval: 20 }).toEqual([expect.any(String)]);
    await world.pass(9.9);
    expect(await world.ready('vrsc')).toMatchObject({ status: 503 });
    await world.pass(0.2);
    expect(await world.ready('vrsc')).toMatchObject({ status: 200, reasons: [] });
  }
  const isOver = async () => {
    await world.pass(11);
    return (await world.ready()).status;
  };
  await expect.poll(isOver, { interval: 20 }).toBe(200);
});
