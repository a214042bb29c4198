import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { storeDigests } from '../../test/support/pipeline/verify/all-store-digests.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await createTestStores();
  return () => stores.close();
});

afterEach(async () => {
  await stores.postgres.pool.query('TRUNCATE rewards, transfers, price_ticks, prices');
  await stores.clickhouse.command('TRUNCATE TABLE transactions');
});

interface Row {
  readonly chain?: string;
  readonly height?: number;
  readonly amount?: bigint;
  readonly position?: number;
}

async function postgres(...rows: Row[]): Promise<string> {
  await stores.postgres.pool.query('TRUNCATE rewards');
  for (const { chain = 'a', height = 1, amount = 5n, position = 1 } of rows) {
    await stores.postgres.pool.query(`INSERT INTO rewards VALUES ($1, 'R', $2, '\\x00', 0, 'mining', $3, $4)`, [
      chain,
      height,
      amount,
      position,
    ]);
  }
  return (await storeDigests(stores))['postgres.rewards']?.digest ?? '';
}

interface ClickHouseRow extends Row {
  readonly fee?: bigint | null;
}

async function clickhouse(...rows: ClickHouseRow[]): Promise<string> {
  const columns = ['chain', 'height', 'tx_index', 'time', 'txid', 'kind', 'fee', 'size', 'position'];
  await stores.clickhouse.command('TRUNCATE TABLE transactions');
  for (const { chain = 'a', height = 1, fee = 5n, position = 1 } of rows) {
    await stores.clickhouse.insert('transactions', columns, [
      [chain, height, 0, 1_600_000_000, 'a'.repeat(64), 'transfer', fee, 10, position],
    ]);
  }
  return (await storeDigests(stores))['clickhouse.transactions']?.digest ?? '';
}

describe.each([
  ['postgres', postgres],
  ['clickhouse', clickhouse],
])('the digest of a table in %s', (_, of) => {
  it('is the same for the same rows in any order', async () => {
    expect(await of({ height: 1 }, { height: 2 }, { height: 3 })).toBe(
      await of({ height: 3 }, { height: 1 }, { height: 2 }),
    );
  });

  it('changes with a row more, a row less, and any value', async () => {
    const digests = [
      await of(),
      await of({ height: 1 }),
      await of({ height: 1 }, { height: 2 }),
      await of({ height: 2 }),
      await of({ height: 1, chain: 'b' }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('does not depend on the source of a row', async () => {
    expect(await of({ position: 1 })).toBe(await of({ position: 99 }));
  });
});

describe('the digest of a table', () => {
  it('counts duplicate rows', async () => {
    const digests = [await clickhouse(), await clickhouse({}), await clickhouse({}, {}), await clickhouse({}, {}, {})];
    expect(new Set(digests).size).toBe(4);
  });

  it('distinguishes null from zero', async () => {
    expect(await clickhouse({ fee: null })).not.toBe(await clickhouse({ fee: 0n }));
    expect(await clickhouse({ fee: null, height: 1 })).not.toBe(await clickhouse({ fee: null, height: 2 }));
  });

  it('of one chain excludes other chains and the chain name', async () => {
    await postgres({ chain: 'a', height: 1 }, { chain: 'b', height: 1 }, { chain: 'c', height: 2 });
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((chain) => storeDigests(stores, chain)));
    expect(a?.['postgres.rewards']).toEqual(b?.['postgres.rewards']);
    expect(a?.['postgres.rewards']?.digest).not.toEqual(c?.['postgres.rewards']?.digest);
    expect(a?.['postgres.rewards']?.rows).toBe(1);
  });
});

it('covers every table whose rows come from a record of the log', async () => {
  const digested = Object.keys(await storeDigests(stores));
  const { rows } = await stores.postgres.pool.query<{ name: string }>(
    `SELECT DISTINCT 'postgres.' || table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name IN ('position', 'tick')`,
  );
  const clickhouse = await stores.clickhouse.rows(
    rowReader({ name: columns.text }),
    `SELECT DISTINCT concat('clickhouse.', c.table) AS name FROM system.columns AS c
     WHERE c.database = currentDatabase() AND c.name IN ('position', 'tick')`,
  );
  const audit = ['postgres.fact_digests', 'postgres.stamp_digests'];
  const webhooks = ['postgres.webhook_cursors', 'postgres.webhook_price_sides'];
  const ahead = ['clickhouse.prices_ahead', 'clickhouse.conversions_ahead'];
  const work = ['clickhouse.stamp_prices', 'postgres.rolled_days', ...ahead];
  // Stores that have not seen a reorganisation have no rows about it, and must have the same digests.
  const branches = ['postgres.reorgs', 'postgres.removed_blocks'];
  const inView = ['postgres.balance_versions'];
  const bookkeeping = [
    ...branches,
    ...inView,
    'postgres.stage_positions',
    'postgres.price_ticks',
    ...work,
    ...webhooks,
    ...audit,
  ];
  const derived = [...rows, ...clickhouse].map(({ name }) => name).filter((name) => !bookkeeping.includes(name));
  expect(derived.length).toBeGreaterThan(15);
  expect(digested).toEqual(expect.arrayContaining(derived));
});
