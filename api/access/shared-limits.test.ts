/** The limits of two processes on one real Postgres: never more than the allowance, whichever process dies; and which processes are alive. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAcceptedLog } from '../../test/support/api/access/accepted-log.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { correction, startLedgerClock } from './ledger-clock.ts';
import { createLimiter } from './limiter.ts';
import { createPostgresLedger, deleteExpired } from './postgres-ledger.ts';

const logger = pino({ level: 'silent' });
const ALLOWANCE = 60;
let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

describe('limits in Postgres', () => {
  it('hold over 64 connections to two processes, a kill, and the minute after', async () => {
    let time = 1_000_000;
    const ledger = createPostgresLedger(stores.postgres);
    const start = (process: string) => createLimiter({ ledger, process, now: () => time, members: () => 2 });
    const limiters = [start('a'), start('b')];
    const accepted = createAcceptedLog();
    const connection = async (index: number) => {
      for (let n = 0; n < 5; n += 1) {
        const cost = [1, 2, 5][(index + n) % 3] ?? 1;
        const at = time;
        const verdict = await limiters[(index + n) % 2]?.charge([{ bucket: 'caller', allowance: ALLOWANCE, cost }]);
        if (verdict?.accepted) accepted.add(at, cost);
      }
    };
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(Array.from({ length: 64 }, (_, index) => connection(index)));
      if (round === 1) limiters[0] = start('a again'); // the old process is gone without closing
      time += 21_000;
    }
    expect(accepted.most()).toBeLessThanOrEqual(ALLOWANCE);
    expect(accepted.most()).toBeGreaterThanOrEqual(ALLOWANCE * 0.9 - 4);
    for (const limiter of limiters) await limiter.close();
    const count = async () => (await stores.postgres.pool.query('SELECT * FROM allowances')).rowCount;
    expect(await count()).toBe(1);
    await deleteExpired(stores.postgres, time + 200_000);
    expect(await count()).toBe(0);
    await ledger.close();
  });

  it('many callers at once cost few statements', async () => {
    const ledger = createPostgresLedger(stores.postgres);
    let exchanges = 0;
    const counting = {
      exchange: (...given: Parameters<typeof ledger.exchange>) => {
        exchanges += 1;
        return ledger.exchange(...given);
      },
    };
    const limiter = createLimiter({ ledger: counting, process: 'many', now: () => 5_000_000, members: () => 1 });
    const callers = Array.from({ length: 500 }, (_, n) => [{ bucket: `caller ${n}`, allowance: ALLOWANCE, cost: 1 }]);
    const verdicts = await Promise.all(callers.map((demands) => limiter.charge(demands)));
    expect(verdicts.every(({ accepted }) => accepted)).toBe(true);
    expect(exchanges).toBeLessThan(10);
    await ledger.close();
  });
});

describe('a Postgres that does not answer', () => {
  it('keeps no caller waiting for the limits, which work again once it answers', async () => {
    const ledger = createPostgresLedger(stores.postgres);
    const limiter = createLimiter({ ledger, process: 'waits', now: () => 9_000_000, members: () => 1 });
    const demand = { bucket: 'held up', allowance: ALLOWANCE, cost: 1 };
    // Another transaction locks the table: to the ledger, this looks like a server that accepts statements and never answers.
    const held = stores.postgres.transaction(async (client) => {
      await client.query('LOCK TABLE allowances IN ACCESS EXCLUSIVE MODE');
      const charges = [0, 1, 2].map(() => limiter.charge([demand]));
      const outcome = await Promise.race([Promise.allSettled(charges), sleep(20_000, 'no answer')]);
      expect(outcome).toEqual(Array(3).fill(expect.objectContaining({ status: 'rejected' })));
    });
    await held;
    await expect
      .poll(
        async () =>
          (await createLimiter({ ledger, process: 'again', now: () => 9_000_000, members: () => 1 }).charge([demand]))
            .accepted,
      )
      .toBe(true);
    await ledger.close();
  });
});

describe('the clock of the ledger', () => {
  it('knows the live processes, agrees with a running process, and forgets processes that leave', async () => {
    const { postgres } = stores;
    const options = { postgres, logger, beatMs: 20 };
    // The clock of Postgres has stepped by an hour since the first process began: the reading of that process counts, not the wall clock.
    const first = await startLedgerClock({ ...options, process: 'first', beatMs: 3_600_000 });
    await postgres.pool.query(`UPDATE allowance_holders SET ledger_ms = ledger_ms + 3600000`);
    const second = await startLedgerClock({ ...options, process: 'second' });
    expect(second.now() - first.now()).toBeGreaterThan(3_500_000);
    await first.stop();
    const third = await startLedgerClock({ ...options, process: 'third' });
    await expect.poll(() => Math.abs(third.now() - second.now())).toBeLessThan(250);
    const until = async (members: number) => {
      for (let n = 0; n < 600 && second.members() !== members; n += 1) await sleep(50);
      return second.members();
    };
    expect(await until(2)).toBe(2);
    await third.stop();
    expect(await until(1)).toBe(1);
    await second.stop();
  });

  it('goes back to the slowest, and forward only when the process must have slept', () => {
    expect(correction(1_000, 990)).toBe(0);
    expect(correction(1_000, 1_900)).toBe(0);
    expect(correction(1_000, 700)).toBe(-300);
    expect(correction(1_000, 9_000)).toBe(8_000);
  });
});
