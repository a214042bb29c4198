/** The bound of the limits: whatever the schedule, no window of 60 s accepts more than the allowance. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAcceptedLog } from '../../test/support/api/access/accepted-log.ts';
import { createMemoryLedger } from '../../test/support/api/access/memory-ledger.ts';
import type { AllowanceLedger } from './ledger.ts';
import { createLimiter, type Limiter, LimitsUnavailable } from './limiter.ts';

const RUNS = Number(process.env.LIMITER_SCHEDULES ?? 2_000);
const ALLOWANCE = 60;

function limiterOn(ledger: AllowanceLedger, now: () => number, process = 'a', members = 1): Limiter {
  return createLimiter({ ledger, process, now, members: () => members });
}

const demand = (cost: number, allowance = ALLOWANCE) => ({ bucket: 'caller', allowance, cost });

describe('one process', () => {
  it('lets exactly the allowance through, and reports what remains correctly at every step', async () => {
    let time = 1_000;
    const limiter = limiterOn(createMemoryLedger(), () => time);
    const accepted = createAcceptedLog();
    for (let n = 0; n < 200; n += 1) {
      time += n % 7 === 0 ? 1_900 : 13;
      const cost = [1, 2, 5][n % 3] ?? 1;
      const verdict = await limiter.charge([demand(cost)]);
      if (verdict.accepted) accepted.add(time, cost);
      else expect(accepted.lately(time) + cost).toBeGreaterThan(ALLOWANCE);
      const remaining = verdict.standings[0]?.remaining ?? -1;
      expect(Math.abs(remaining - (ALLOWANCE - accepted.lately(time)))).toBeLessThanOrEqual(1);
    }
    expect(accepted.most()).toBe(ALLOWANCE);
  });

  it('reports what remains correctly for the first request after a pause of any length', async () => {
    let time = 1_000;
    const limiter = limiterOn(createMemoryLedger(), () => time);
    const accepted = createAcceptedLog();
    for (let n = 0; n < 300; n += 1) {
      time += [3, 250, 1_001, 15_000, 29_999, 45_000, 60_001, 200_000][n % 8] ?? 0;
      for (const cost of [n % 6, 1, 5, 0]) {
        const verdict = await limiter.charge([demand(cost)]);
        if (verdict.accepted) accepted.add(time, cost);
        const remaining = verdict.standings[0]?.remaining ?? -1;
        expect(Math.abs(remaining - (ALLOWANCE - accepted.lately(time)))).toBeLessThanOrEqual(1);
      }
    }
  });

  it('reports what remains correctly for the very first request, and after another process has left', async () => {
    let time = 1_000;
    let members = 2;
    const ledger = createMemoryLedger();
    const [stays, leaves] = ['a', 'b'].map((process) =>
      createLimiter({ ledger, process, now: () => time, members: () => members }),
    );
    const left = async (limiter: Limiter | undefined, cost: number) =>
      (await limiter?.charge([demand(cost)]))?.standings[0]?.remaining;
    expect(await left(leaves, 20)).toBe(ALLOWANCE - 20);
    await left(stays, 1); // reads the lease of the other process
    await leaves?.close();
    members = 1;
    time += 5_000;
    expect(await left(stays, 0)).toBe(ALLOWANCE - 21);
    await stays?.close();
    // A new process knows at once what was used before, even if its first request costs nothing.
    expect(
      await left(
        limiterOn(ledger, () => time, 'c'),
        0,
      ),
    ).toBe(ALLOWANCE - 21);
  });

  it('reports when the same demand passes: not earlier, and at that time it does', async () => {
    let time = 0;
    const limiter = limiterOn(createMemoryLedger(), () => time);
    for (let n = 0; n < ALLOWANCE; n += 1) {
      time += 100;
      expect((await limiter.charge([demand(1)])).accepted).toBe(true);
    }
    const { accepted, retryMs } = await limiter.charge([demand(3)]);
    expect(accepted).toBe(false);
    time += retryMs - 2;
    expect((await limiter.charge([demand(3)])).accepted).toBe(false);
    time += 2;
    expect((await limiter.charge([demand(3)])).accepted).toBe(true);
  });

  it('returns the credits of failed work, and never more', async () => {
    let time = 0;
    const limiter = limiterOn(createMemoryLedger(), () => time);
    const all = await Promise.all(Array.from({ length: ALLOWANCE }, () => limiter.charge([demand(1)])));
    expect((await limiter.charge([demand(1)])).accepted).toBe(false);
    for (const verdict of all.slice(0, 10)) verdict.giveBack();
    time += 10;
    const again = await Promise.all(Array.from({ length: 30 }, () => limiter.charge([demand(1)])));
    expect(again.filter(({ accepted }) => accepted)).toHaveLength(10);
    time += 70_000;
    for (const verdict of all.slice(10)) verdict.giveBack(); // these no longer count: nothing to return
    const later = await Promise.all(Array.from({ length: 100 }, () => limiter.charge([demand(1)])));
    expect(later.filter(({ accepted }) => accepted)).toHaveLength(ALLOWANCE);
  });

  it('charges all demands or none', async () => {
    const limiter = limiterOn(createMemoryLedger(), () => 0);
    const both = (credits: number) => [
      { bucket: 'requests', allowance: 100, cost: 1 },
      { bucket: 'credits', allowance: 10, cost: credits },
    ];
    expect((await limiter.charge(both(8))).accepted).toBe(true);
    const refused = await limiter.charge(both(5));
    expect(refused.accepted).toBe(false);
    expect(refused.standings.map(({ remaining }) => remaining)).toEqual([99, 2]);
    expect((await limiter.charge(both(2))).accepted).toBe(true);
  });

  it('asks the ledger once per lease, not for every request', async () => {
    let asked = 0;
    const ledger = createMemoryLedger(async () => {
      asked += 0.5;
    });
    const limiter = limiterOn(ledger, () => 0);
    for (let n = 0; n < 5_000; n += 1) await limiter.charge([demand(1, 10_000)]);
    expect(asked).toBeLessThan(45);
    // A flood from an exhausted caller is refused without asking the ledger at all.
    while ((await limiter.charge([demand(100, 10_000)])).accepted);
    const before = asked;
    for (let n = 0; n < 5_000; n += 1) await limiter.charge([demand(200, 10_000)]);
    expect(asked).toBe(before);
  });

  it('lets no request pass while the ledger does not answer, and continues when it does', async () => {
    let time = 0;
    let down = true;
    const inner = createMemoryLedger();
    const ledger: AllowanceLedger = {
      exchange: (...given) => (down ? Promise.reject(new Error('gone')) : inner.exchange(...given)),
    };
    const limiter = limiterOn(ledger, () => time);
    await expect(limiter.charge([demand(1)])).rejects.toThrow(LimitsUnavailable);
    down = false;
    time += 1_000;
    expect((await limiter.charge([demand(1)])).accepted).toBe(true);
  });
});

describe('a restart', () => {
  it('forgets no use, neither after an orderly end nor after a kill', async () => {
    for (const orderly of [true, false]) {
      let time = 0;
      const ledger = createMemoryLedger();
      const first = limiterOn(ledger, () => time, 'first');
      for (let n = 0; n < 50; n += 1) await first.charge([demand(1)]);
      if (orderly) await first.close();
      time += 100;
      const second = limiterOn(ledger, () => time, 'second');
      let passed = 0;
      for (let n = 0; n < 50; n += 1) if ((await second.charge([demand(1)])).accepted) passed += 1;
      expect(passed).toBeLessThanOrEqual(10);
      expect(passed).toBeGreaterThanOrEqual(orderly ? 10 : 10 - ALLOWANCE / 10);
    }
  });
});

interface Step {
  readonly wait: number;
  readonly process: 0 | 1;
  readonly cost: number;
  readonly burst: number;
  readonly act: 'charge' | 'fail' | 'kill' | 'slower';
  /** Ledger operations that complete before the next step. */
  readonly progress: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  wait: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 500 }),
    fc.integer({ min: 0, max: 45_000 }),
    fc.integer({ min: 58_000, max: 60_000 }), // near the end of the window
  ),
  process: fc.constantFrom(0 as const, 1 as const),
  cost: fc.constantFrom(1, 1, 2, 5, 25),
  burst: fc.constantFrom(1, 3, 16, 64),
  progress: fc.integer({ min: 0, max: 6 }),
  act: fc.oneof(
    { weight: 12, arbitrary: fc.constant('charge' as const) },
    { weight: 2, arbitrary: fc.constant('fail' as const) },
    { weight: 1, arbitrary: fc.constant('kill' as const) },
    { weight: 1, arbitrary: fc.constant('slower' as const) },
  ),
});

describe('two processes on one ledger', () => {
  it(`never let more than the allowance through in any 60 s (${RUNS} schedules)`, async () => {
    const property = fc.asyncProperty(
      fc.scheduler(),
      fc.array(step, { minLength: 1, maxLength: 30 }),
      fc.tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 900 })),
      async (scheduler, steps, ahead) => {
        let time = 1_000_000;
        let lives = 0;
        const clocks = [...ahead];
        const ledger = createMemoryLedger(() => scheduler.schedule(Promise.resolve()));
        const start = (index: 0 | 1) => {
          const name = `${index} ${++lives}`;
          return limiterOn(ledger, () => time + (clocks[index] ?? 0), name, 2);
        };
        const limiters = [start(0), start(1)];
        const accepted = createAcceptedLog();
        const under: Promise<unknown>[] = [];
        for (const { wait, process, cost, burst, act, progress } of steps) {
          time += wait;
          if (act === 'kill') limiters[process] = start(process);
          if (act === 'slower') clocks[process] = (clocks[process] ?? 0) / 2;
          for (let n = 0; n < burst; n += 1) {
            const charged = Promise.resolve(limiters[process]?.charge([demand(cost)])).then((verdict) => {
              const at = time;
              if (!verdict?.accepted) return;
              accepted.add(at, cost);
              if (act === 'fail') {
                accepted.remove(at, cost);
                verdict.giveBack();
              }
            });
            under.push(charged);
          }
          // Some pending operations complete now, the rest during later steps.
          for (let n = 0; n < progress; n += 1) {
            await new Promise(setImmediate);
            if (scheduler.count() > 0) await scheduler.waitNext(1);
          }
          await new Promise(setImmediate); // records what was decided now before the time advances
        }
        await scheduler.waitFor(Promise.all(under));
        expect(accepted.most()).toBeLessThanOrEqual(ALLOWANCE);
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  it('report at once what the other has used, even after a pause', async () => {
    let time = 1_000;
    const ledger = createMemoryLedger();
    const wide = 600;
    const [busy, other] = ['a', 'b'].map((name) => limiterOn(ledger, () => time, name, 2));
    const chargeAt = async (limiter: Limiter | undefined) =>
      (await limiter?.charge([demand(1, wide)]))?.standings[0]?.remaining;
    expect(await chargeAt(other)).toBe(wide - 1);
    for (let n = 0; n < 300; n += 1) await chargeAt(busy);
    time += 1_001;
    const left = wide - 302;
    expect(Math.abs(((await chargeAt(other)) ?? 0) - left)).toBeLessThanOrEqual(wide * 0.1);
  });

  it('refuse a caller early by at most a tenth', async () => {
    for (const cost of [1, 2]) {
      let time = 0;
      const ledger = createMemoryLedger();
      const limiters = ['a', 'b'].map((name) => limiterOn(ledger, () => time, name, 2));
      const accepted = createAcceptedLog();
      for (let n = 0; n < 2_000; n += 1) {
        time += 37;
        const verdict = await limiters[n % 2]?.charge([demand(cost)]);
        if (verdict?.accepted) accepted.add(time, cost);
        // Uses of the other process count one second longer, because the clocks may differ by that much.
        else expect(accepted.lately(time) + cost).toBeGreaterThan(ALLOWANCE * 0.9 - 2);
      }
      expect(accepted.most()).toBeLessThanOrEqual(ALLOWANCE);
    }
  });
});
