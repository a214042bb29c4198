/** The audit does not report what a stage is in the middle of, or has left behind in a crash, as a difference. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChain, type GeneratedChain } from '../../test/generator/chain.ts';
import { blockRecord, type UnplacedRecord } from '../../test/laws/chain-records.ts';
import { deriveToEnd, NATIVE, SimulatedCrash } from '../../test/laws/replay.ts';
import { type AuditedWorld, createAuditedWorld } from '../../test/support/pipeline/audit/audited-world.ts';
import { acquireStageLock } from '../stage/stage-lock.ts';
import { type ChainAudit, createChainAudit } from './chain-audit.ts';

const NAME = 'one';
const never = new AbortController().signal;

let world: AuditedWorld;
let chain: GeneratedChain;
let audit: ChainAudit;

beforeAll(async () => {
  chain = createChain({ seed: 5, addresses: 5, transactions: 3, rewinds: true });
  world = await createAuditedWorld([{ name: NAME, records: blocks(30) }]);
  await world.derive();
  audit = createChainAudit(world.stores, { name: NAME, nativeCurrencyId: NATIVE }, null, pino({ level: 'silent' }));
});
afterAll(() => world.close());

const blocks = (count: number): UnplacedRecord[] => Array.from({ length: count }, () => blockRecord(chain.next()));

function otherBranch(): UnplacedRecord[] {
  const fromHeight = chain.height;
  const height = fromHeight - 5;
  return [{ kind: 'rewind', height, hash: chain.rewind(height), fromHeight }, ...blocks(6)];
}

async function owned<T>(work: () => Promise<T>): Promise<T> {
  const lock = await acquireStageLock(world.stores.postgres, 'derive', NAME, never);
  await lock.inStep();
  return work().finally(() => lock.release());
}

const expectEqual = async (): Promise<void> => {
  const report = await owned(() => audit.look(never));
  expect(report).toMatchObject({ state: 'equal', checkedHeight: chain.height, lastMismatch: null });
};

async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const { rows } = await world.stores.postgres.pool.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Repeats the check: on a slow machine one check covers few blocks and may not reach those that are rewound. */
async function lookUntil(waiting: Promise<void>): Promise<unknown> {
  let isWaiting = false;
  void waiting.then(() => {
    isWaiting = true;
  });
  for (;;) {
    const report = await audit.look(never);
    expect(report).toMatchObject({ lastMismatch: null });
    if (isWaiting) return report;
  }
}

it('waits for a rewind that is done in ClickHouse and not yet in Postgres', async () => {
  await expectEqual();
  await world.log.append(NAME, otherBranch());
  let looking: Promise<unknown> = Promise.resolve();
  let passed = 0;
  await deriveToEnd(NAME, {
    log: world.log,
    stores: world.stores,
    async crashPoint(point) {
      if (point !== 'clickhouse' || passed++ > 0) return;
      const waiting = untilSomebodyWaits();
      looking = lookUntil(waiting);
      await waiting;
    },
  });
  expect(await looking).toMatchObject({ lastMismatch: null });
  await expectEqual();
});

it('ignores what a crash left, both before and after the next owner has started', async () => {
  await world.log.append(NAME, otherBranch());
  const crashing = deriveToEnd(NAME, {
    log: world.log,
    stores: world.stores,
    crashPoint(point) {
      if (point === 'clickhouse') throw new SimulatedCrash(point);
    },
  });
  await expect(crashing).rejects.toThrow(SimulatedCrash);
  expect(await audit.look(never)).toMatchObject({ lastMismatch: null });
  const lock = await acquireStageLock(world.stores.postgres, 'derive', NAME, never);
  expect(await audit.look(never)).toMatchObject({ lastMismatch: null });
  await lock.inStep(); // a false report: the rewind has not been repaired
  expect(await audit.look(never)).toMatchObject({ state: 'differs', lastMismatch: { height: chain.height - 5 } });
  await lock.release();
  await deriveToEnd(NAME, { log: world.log, stores: world.stores });
  const report = await owned(() => audit.look(never));
  expect(report).toMatchObject({ state: 'equal', checkedHeight: chain.height, lastMismatch: { lasts: false } });
});

it('reports the end of a violation only after checking its height, even if a lasting difference is checked first', async () => {
  const { pool } = world.stores.postgres;
  const lookAt = () => owned(() => audit.look(never));
  const until = async (state: string) => {
    for (;;) if ((await lookAt()).state === state) return;
  };
  const { rows } = await pool.query<{ ctid: string }>(
    'UPDATE outputs SET value = value + 1 WHERE ctid = (SELECT ctid FROM outputs WHERE value > 0 AND from_height = 8 LIMIT 1) RETURNING ctid',
  );
  await until('violated');
  const { lastViolation } = await lookAt();
  expect(lastViolation).toMatchObject({ invariant: 'native_issue', lasts: true });
  const lastMismatch = { table: 'transactions', height: 20, foundAt: '2026-01-01T00:00:00.000Z', lasts: true };
  audit = createChainAudit(
    world.stores,
    { name: NAME, nativeCurrencyId: NATIVE },
    { lastMismatch, lastViolation },
    pino({ level: 'silent' }),
  );
  for (let looks = 0; looks < 4; looks++) expect(await lookAt()).toMatchObject({ state: 'violated', lastViolation });
  await pool.query('UPDATE outputs SET value = value - 1 WHERE ctid = $1', [rows[0]?.ctid]);
  await until('equal');
});
