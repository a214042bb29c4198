/**
 * Cost of the limiter per request: a caller whose share is in memory, many callers, a caller over its allowance, and requests that need the
 * ledger in Postgres.
 * node benchmarks/limiter.bench.ts [requests = 300000] [callers that use the ledger = 5000]
 */
import { type AllowanceDemand, createLimiter, type Limiter } from '../api/access/limiter.ts';
import { createPostgresLedger } from '../api/access/postgres-ledger.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { median } from './verdict.ts';

const [requests = 300_000, asking = 5_000] = process.argv.slice(2).map(Number);
const AMPLE = 1e9;
const CALLERS = 1_000;
const ROUNDS = 3;

const demand = (bucket: string, allowance: number): readonly AllowanceDemand[] => [{ bucket, allowance, cost: 1 }];

/** Returns nanoseconds per request. */
async function timed(count: number, one: (n: number) => unknown): Promise<number> {
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    const answer = one(n);
    if (answer instanceof Promise) await answer;
  }
  return ((performance.now() - began) * 1e6) / count;
}

const stores = await createTestStores();
const ledger = createPostgresLedger(stores.postgres);
const limiter: Limiter = createLimiter({ ledger, process: 'bench', now: () => performance.now(), members: () => 1 });
/** The baseline only counts requests per bucket; it does nothing else that the limiter does. */
const counts = new Map<string, number>();
const counter = (bucket: string) => {
  const count = (counts.get(bucket) ?? 0) + 1;
  counts.set(bucket, count);
  return count <= AMPLE;
};
const callers = Array.from({ length: CALLERS }, (_, n) => ({
  name: `caller ${n}`,
  demands: demand(`caller ${n}`, AMPLE),
}));
const callerOf = (n: number) => callers[n % CALLERS] as (typeof callers)[0];
const over = demand('over', 60);
const one = demand('one', AMPLE);

const chargeAsRequestsDo = (demands: readonly AllowanceDemand[]) =>
  limiter.chargeNow(demands) ?? limiter.charge(demands);

const CASES: Readonly<Record<string, (n: number) => unknown>> = {
  'a counter in memory (baseline)': (n) => counter(callerOf(n).name),
  'one caller': () => chargeAsRequestsDo(one),
  [`${CALLERS} callers in turn`]: (n) => chargeAsRequestsDo(callerOf(n).demands),
  'over the allowance': () => chargeAsRequestsDo(over),
};

try {
  const measured = new Map<string, number[]>();
  for (let n = 0; n < CALLERS; n += 1) await limiter.charge(callerOf(n).demands);
  for (let n = 0; n < 100; n += 1) await limiter.charge(over);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, charge] of Object.entries(CASES)) {
      measured.set(name, [...(measured.get(name) ?? []), await timed(requests, charge)]);
    }
  }
  const baseline = median(measured.get(Object.keys(CASES)[0] ?? '') ?? []);
  for (const [name, times] of measured) {
    const ns = median(times);
    console.log(`${name.padEnd(34)}${ns.toFixed(0).padStart(8)} ns a request   ${(ns / baseline).toFixed(1)} ×`);
  }
  // Every caller is new, so that no request can be decided from memory.
  const began = performance.now();
  await Promise.all(Array.from({ length: asking }, (_, n) => limiter.charge(demand(`new ${n}`, 60))));
  const ns = ((performance.now() - began) * 1e6) / asking;
  console.log(
    `${'new callers at once, by the ledger'.padEnd(34)}${ns.toFixed(0).padStart(8)} ns a request   ${(ns / baseline).toFixed(1)} ×`,
  );
} finally {
  await limiter.close();
  await ledger.close();
  await stores.close();
}
