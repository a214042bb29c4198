import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityFact, CurrencyStateFact, Fact } from '../../../schemas/facts.ts';
import { createTestStores, type TestStores } from '../../../test/support/infra/test-stores.ts';
import { blockFact, blockOf } from '../../../test/support/pipeline/sinks/made-facts.ts';
import { factsByType } from '../facts-by-type.ts';
import { cutBackTo, insertFacts, rewindTo } from './clickhouse-sink.ts';
import { waitOutInserts } from './wait-out-inserts.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await createTestStores();
  return () => stores.close();
});

afterEach(async () => {
  await cutBackTo(stores.clickhouse, 'c', -1);
  await cutBackTo(stores.clickhouse, 'other', -1);
});

function insert(chain: string, height: number, facts: readonly Fact[] = [], position = height): Promise<void> {
  const options = { chain, nativeCurrencyId: 'iN' };
  return insertFacts(stores.clickhouse, factsByType([blockOf(height, facts, position)]), options);
}

async function heights(chain = 'c'): Promise<unknown[]> {
  const rows = await stores.clickhouse.query(
    'SELECT height FROM blocks WHERE chain = {chain:String} ORDER BY height, position',
    { chain },
  );
  return rows.map(({ height }) => height);
}

const A = 'a'.repeat(64);

function activity(received: bigint, sent: bigint, currencies: ActivityFact['currencies'] = {}): ActivityFact {
  return { type: 'activity', address: 'R1', txid: A, txIndex: 0, received, sent, currencies };
}

describe('cutting back', () => {
  it('removes rows after the position, for this chain only, and is idempotent', async () => {
    for (const height of [1, 2, 3]) await insert('c', height);
    await insert('other', 3);
    for (const _ of [1, 2]) {
      await cutBackTo(stores.clickhouse, 'c', 2);
      expect(await heights()).toEqual([1, 2]);
      expect(await heights('other')).toEqual([3]);
    }
  });

  it('to -1 removes all rows of the chain, including those of the record at position 0', async () => {
    await insert('c', 0);
    await cutBackTo(stores.clickhouse, 'c', -1);
    expect(await heights()).toEqual([]);
  });

  it('is complete when it returns: the same rows can be written again', async () => {
    for (let round = 0; round < 5; round++) {
      await insert('c', 1, [activity(5n, 0n)]);
      await cutBackTo(stores.clickhouse, 'c', 0);
      await insert('c', 1, [activity(5n, 0n)]);
      expect(await heights()).toEqual([1]);
      expect(await stores.clickhouse.query('SELECT count() AS n FROM address_deltas')).toEqual([{ n: '1' }]);
      await cutBackTo(stores.clickhouse, 'c', 0);
    }
  });
});

describe('a rewind', () => {
  it('removes earlier blocks above the height, and none of the branch after it', async () => {
    await insert('c', 1, [], 1);
    await insert('c', 2, [], 2);
    await insert('c', 3, [], 3);
    await insert('c', 2, [], 5); // the new branch, after the rewind record at position 4
    for (const _ of [1, 2]) {
      await rewindTo(stores.clickhouse, 'c', 1, 4);
      expect(await heights()).toEqual([1, 2]);
    }
  });
});

describe('while the engine merges nothing', () => {
  const merges = (verb: 'STOP' | 'START') => stores.clickhouse.command(`SYSTEM ${verb} MERGES`);
  const unfinished = async () =>
    (await stores.clickhouse.query('SELECT 1 FROM system.mutations WHERE NOT is_done')).length;

  it('any order of inserts and rewinds leaves exactly the rows that were not rewound, before and after the merges', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('insert' as const), blocks: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant('rewind' as const), blocks: fc.nat({ max: 4 }) }),
    );
    const law = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      await merges('STOP');
      let height = 0;
      let position = 0;
      const facts = [activity(5n, 2n, { iX: { received: 0n, sent: 9n } })];
      for (const { kind, blocks } of steps) {
        if (kind === 'insert') for (let made = 0; made < blocks; made++) await insert('c', ++height, facts, ++position);
        else {
          height = Math.max(0, height - blocks);
          await rewindTo(stores.clickhouse, 'c', height, ++position);
        }
      }
      const left = Array.from({ length: height }, (_, index) => index + 1);
      const deltas = () =>
        stores.clickhouse.query("SELECT count() AS rows, countIf(currency_id = 'iX') AS tokens FROM address_deltas");
      const content = async () => [await heights(), await deltas()];
      const expected = [left, [{ rows: String(2 * height), tokens: String(height) }]];
      expect(await content()).toEqual(expected);
      await merges('START');
      while ((await unfinished()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await content()).toEqual(expected);
      await cutBackTo(stores.clickhouse, 'c', -1);
    });
    try {
      await fc.assert(law, { numRuns: 8 });
    } finally {
      await merges('START');
    }
  });
});

describe('rows', () => {
  it('of an activity: one for each currency that moved, with gross amounts', async () => {
    await insert('c', 1, [activity(5n, 2n, { iX: { received: 0n, sent: 9n } })]);
    expect(
      await stores.clickhouse.query('SELECT currency_id, received, sent FROM address_deltas ORDER BY currency_id'),
    ).toEqual([
      { currency_id: 'iN', received: '5', sent: '2' },
      { currency_id: 'iX', received: '0', sent: '9' },
    ]);
  });

  it('of an activity without native coins: a native row only if no currency moved', async () => {
    await insert('c', 1, [activity(0n, 0n, { iX: { received: 1n, sent: 0n } })]);
    await insert('c', 2, [activity(0n, 0n)]);
    expect(await stores.clickhouse.query('SELECT height, currency_id FROM address_deltas ORDER BY height')).toEqual([
      { height: 1, currency_id: 'iX' },
      { height: 2, currency_id: 'iN' },
    ]);
  });

  it('of a staked block: a stake', async () => {
    const stake = { txid: A, address: 'R9', rewardAddress: null, sourceTxid: A, sourceVout: 1, amount: 10n ** 18n };
    const block = { ...blockFact(7), validationType: 'stake' as const, stake };
    const facts = factsByType([{ position: 7, height: 7, block, facts: [block] }]);
    await insertFacts(stores.clickhouse, facts, { chain: 'c', nativeCurrencyId: 'iN' });
    await insert('c', 8);
    expect(await stores.clickhouse.query('SELECT height, txid, address, reward_address, amount FROM stakes')).toEqual([
      { height: 7, txid: A, address: 'R9', reward_address: '', amount: String(10n ** 18n) },
    ]);
    expect(
      await stores.clickhouse.query(
        'SELECT toUnixTimestamp(time) AS time, difficulty, stake_amount, miner_address FROM blocks WHERE height = 7',
      ),
    ).toEqual([{ time: block.time, difficulty: 1.5, stake_amount: String(10n ** 18n), miner_address: '' }]);
  });

  it('of a currency state: its reserves as arrays', async () => {
    const state: CurrencyStateFact = {
      type: 'currency_state',
      currencyId: 'iB',
      txid: A,
      vout: 1,
      txIndex: 2,
      flags: 49,
      supply: 10n ** 18n,
      reserves: ['iN', "i'X"].map((currencyId) => {
        return { currencyId, weight: 50_000_000n, reserves: 10n ** 18n, priceInReserve: 1n };
      }),
      liveHeight: 1,
      state: '{}',
    };
    await insert('c', 1, [state, { ...state, txIndex: 3, reserves: [] }]);
    expect(
      await stores.clickhouse.query('SELECT supply, reserve_ids, reserves FROM currency_states ORDER BY tx_index'),
    ).toEqual([
      { supply: String(10n ** 18n), reserve_ids: ['iN', "i'X"], reserves: [String(10n ** 18n), String(10n ** 18n)] },
      { supply: String(10n ** 18n), reserve_ids: [], reserves: [] },
    ]);
  });
});

it('waits for running inserts only', async () => {
  const slow = stores.clickhouse.command(
    `INSERT INTO stakes SELECT 'other', number, 0, repeat('a', 64), '', '', 0, sleepEachRow(0.02) FROM numbers(100)`,
  );
  const runs = `SELECT 1 FROM system.processes WHERE query_kind = 'Insert' AND current_database = currentDatabase()`;
  await expect.poll(() => stores.clickhouse.query(runs), { interval: 10 }).toHaveLength(1);
  await waitOutInserts(stores.clickhouse, new AbortController().signal);
  expect(await stores.clickhouse.query('SELECT count() AS n FROM stakes')).toEqual([{ n: '100' }]);
  await slow;
});
