/** Answers computed from the stores equal the recorded answers of a real daemon. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordedBranches, withReorganisation } from '../laws/chain-records.ts';
import { createTestLog, deriveToEnd, NATIVE, type TestLog } from '../laws/replay.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { addressComparisons } from './addresses.ts';
import type { ComparedAnswer } from './comparison.ts';
import { currencyComparisons } from './currencies.ts';
import { identityComparisons } from './identities.ts';
import { listComparisons } from './listed-currencies.ts';
import { supplyComparisons } from './supply.ts';
import { transferComparisons } from './transfers.ts';

const CHAIN = 'vrsctest';
const MINUTES = 60_000;
const SHOWN = 3;

const comparisons = [
  ...identityComparisons,
  ...addressComparisons,
  ...currencyComparisons,
  ...listComparisons,
  ...transferComparisons,
  ...supplyComparisons,
];

let stores: TestStores;
let log: TestLog;
const counts = new Map<string, number>();

beforeAll(async () => {
  stores = await createTestStores();
  log = await createTestLog();
  await log.append(CHAIN, withReorganisation(recordedBranches()));
  await deriveToEnd(CHAIN, { log, stores });
}, 5 * MINUTES);

afterAll(async () => {
  await log.drop();
  await stores.close();
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const table = [...counts].map(([method, count]) => `  ${method} ${count}`).join('\n');
  const unsettled = comparisons.flatMap(({ method, unsettled = [] }) =>
    unsettled.map((what) => `  ${method}: ${what}`),
  );
  console.log(`${total} answers of the daemon compared with the stores:\n${table}`);
  console.log(`not settled by the recording:\n${unsettled.join('\n')}`);
});

/** Cuts both texts to the part around the first character that differs. */
function difference({ asked, expected, ours }: ComparedAnswer): ComparedAnswer {
  let at = 0;
  while (expected[at] === ours[at]) at += 1;
  const near = (text: string) => text.slice(Math.max(0, at - 80), at + 160);
  return { asked, expected: near(expected), ours: near(ours) };
}

it.each(comparisons)(
  '$method',
  async ({ method, answers }) => {
    const wrong: ComparedAnswer[] = [];
    let count = 0;
    const { postgres, clickhouse } = stores;
    for await (const compared of answers({ postgres, clickhouse, chain: CHAIN, native: NATIVE, root: 'VRSCTEST' })) {
      count += 1;
      if (compared.expected !== compared.ours) wrong.push(difference(compared));
    }
    counts.set(method, count);
    expect(wrong.slice(0, SHOWN), `${wrong.length} of ${count}`).toEqual([]);
    expect(count).toBeGreaterThan(0);
  },
  5 * MINUTES,
);
