import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { Stores } from '../../infra/stores.ts';
import { createChain, type GeneratedChain } from '../../test/generator/chain.ts';
import { blockRecord, type UnplacedRecord } from '../../test/laws/chain-records.ts';
import { chainConfig, createTestLog, deriveToEnd, NATIVE, type TestLog } from '../../test/laws/replay.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { runDerive } from '../derive/run-derive.ts';
import { DERIVE_TABLES, tableName } from './digest-tables.ts';
import { type DigestProgress, type VerifiedTable, verify } from './verify.ts';

const SETTINGS = { pricing: { cutover: 0, minBasketDepthUsd: 1000, priceLimits: {} }, scratch: tmpdir() };

let stores: TestStores;
let log: TestLog;

beforeAll(async () => {
  stores = await createTestStores();
  log = await createTestLog();
});

afterAll(async () => {
  await log.drop();
  await stores.close();
});

async function grow(name: string, chain: GeneratedChain, blocks: number): Promise<void> {
  await log.append(
    name,
    Array.from({ length: blocks }, () => blockRecord(chain.next())),
  );
}

function rewind(chain: GeneratedChain, depth: number): UnplacedRecord {
  const fromHeight = chain.height;
  return { kind: 'rewind', height: fromHeight - depth, hash: chain.rewind(fromHeight - depth), fromHeight };
}

const newChain = (seed: number): GeneratedChain => createChain({ seed, addresses: 5, transactions: 3, rewinds: true });

async function verified(names: readonly string[], openFreshStores: () => Promise<Stores> = createTestStores) {
  const chains = names.map((name) => ({ chain: chainConfig(name), nativeCurrencyId: NATIVE }));
  const tables: VerifiedTable[] = [];
  const logger = pino({ level: 'silent' });
  const signal = new AbortController().signal;
  for await (const table of verify({ ...SETTINGS, chains, log, served: stores, openFreshStores, logger, signal }))
    tables.push(table);
  return tables;
}

const different = (tables: readonly VerifiedTable[]) =>
  tables.filter(({ equal }) => !equal).map(({ chain, table }) => `${chain} ${table}`);

describe('verify', () => {
  it('finds every table of every chain equal, including reorganised chains', async () => {
    const [one, other] = [newChain(1), newChain(2)];
    await grow('one', one, 20);
    await grow('other', other, 12);
    await log.append('one', [rewind(one, 4)]);
    await grow('one', one, 8);
    for (const name of ['one', 'other']) await deriveToEnd(name, { log, stores });
    const tables = await verified(['one', 'other', 'never derived']);
    expect(different(tables)).toEqual([]);
    expect(tables).toHaveLength(2 * DERIVE_TABLES.length);
    expect(tables.find(({ table }) => table === 'clickhouse.blocks')).toMatchObject({
      height: 23,
      served: { rows: 24 },
    });
  });

  it('names the tables that differ', async () => {
    await grow('bad', newChain(3), 20);
    await deriveToEnd('bad', { log, stores });
    await stores.postgres.pool.query(
      `UPDATE balances SET balance = balance + 1 WHERE chain = 'bad' AND from_height = 7`,
    );
    await stores.clickhouse.command(`DELETE FROM transactions WHERE chain = 'bad' AND height = 9 AND tx_index = 0`);
    expect(different(await verified(['bad']))).toEqual(['bad postgres.balances', 'bad clickhouse.transactions']);
  });

  it('works while the service runs: each chain is compared at one position', async () => {
    const chain = newChain(4);
    await grow('moving', chain, 30);
    await deriveToEnd('moving', { log, stores });
    const end = new AbortController();
    const running = runDerive({
      chain: chainConfig('moving'),
      nativeCurrencyId: NATIVE,
      log,
      stores,
      logger: pino({ level: 'silent' }),
      status: () => undefined,
      signal: end.signal,
    });
    let growing = true;
    let isRewindDue = false;
    const grower = (async () => {
      while (growing) {
        await grow('moving', chain, 2);
        if (isRewindDue) await log.append('moving', [rewind(chain, 3)]);
        isRewindDue = false;
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
    })();
    try {
      for (let round = 0; round < 3; round++) {
        isRewindDue = true; // one per round, not one per second: on a slow machine every attempt would meet one
        expect(different(await verified(['moving']))).toEqual([]);
      }
    } finally {
      growing = false;
      await grower;
      end.abort();
      await running;
    }
  }, 300_000);

  it('drops the fresh stores even when it fails or is stopped', async () => {
    await grow('stopped', newChain(5), 5);
    await deriveToEnd('stopped', { log, stores });
    let closed = 0;
    const counted = async (): Promise<Stores> => {
      const fresh = await createTestStores();
      return { ...fresh, close: () => fresh.close().finally(() => closed++) };
    };
    const options = {
      ...SETTINGS,
      chains: [{ chain: chainConfig('stopped'), nativeCurrencyId: NATIVE }],
      log,
      served: stores,
      openFreshStores: counted,
      logger: pino({ level: 'silent' }),
    };
    const drain = async (signal: AbortSignal): Promise<void> => {
      for await (const _ of verify({ ...options, signal }));
    };
    await expect(drain(AbortSignal.abort())).rejects.toThrow();
    await drain(new AbortController().signal);
    expect(closed).toBe(2);
  });

  const FOR_EVER = 'SELECT toString(sum(cityHash64(number))) AS rows FROM numbers(1e15)';

  it('cancels the statement of either store that runs when it is stopped', async () => {
    await grow('cancelled', newChain(7), 5);
    await deriveToEnd('cancelled', { log, stores });
    const { clickhouse } = stores;
    const rows: ClickHouse['rows'] = (reader, sql, ...rest) =>
      clickhouse.rows(reader, sql.includes('FROM transactions') ? FOR_EVER : sql, ...rest);
    /** Stops verify a moment after it has begun with the table. */
    const stopAt = async (wanted: string, served: Stores): Promise<void> => {
      const end = new AbortController();
      const options = {
        ...SETTINGS,
        chains: [{ chain: chainConfig('cancelled'), nativeCurrencyId: NATIVE }],
        log,
        served,
        openFreshStores: createTestStores,
        logger: pino({ level: 'silent' }),
        signal: end.signal,
        digestProgress: ({ table }: DigestProgress) =>
          void (table === wanted && setTimeout(() => end.abort(new Error('over')), 500)),
      };
      const done = (async () => {
        for await (const _ of verify(options));
      })();
      await expect(done).rejects.toThrow('over');
    };
    await stopAt('clickhouse.transactions', { ...stores, clickhouse: { ...clickhouse, rows } });
    await stores.postgres.transaction(async (client) => {
      await client.query('LOCK TABLE balances');
      await stopAt('postgres.balances', stores);
    });
  }, 60_000);

  it('reports each digest before it is taken, and can be stopped between two of them', async () => {
    await grow('reported', newChain(6), 5);
    await deriveToEnd('reported', { log, stores });
    const passed = async (most: number): Promise<DigestProgress[]> => {
      const seen: DigestProgress[] = [];
      const end = new AbortController();
      const options = {
        ...SETTINGS,
        chains: [{ chain: chainConfig('reported'), nativeCurrencyId: NATIVE }],
        log,
        served: stores,
        openFreshStores: createTestStores,
        logger: pino({ level: 'silent' }),
        signal: end.signal,
        digestProgress: (digest: DigestProgress) => void (seen.push(digest) === most && end.abort()),
      };
      const done = (async () => {
        for await (const _ of verify(options));
      })();
      await done.catch((error: unknown) => expect(error).toBe(end.signal.reason));
      return seen;
    };
    const reported = await passed(Number.POSITIVE_INFINITY);
    const names = DERIVE_TABLES.map(tableName);
    for (const kind of ['served', 'derived again'] as const) {
      const own = reported.filter((digest) => digest.of === kind);
      expect(own.map(({ table }) => table)).toEqual(names);
      expect(own.map(({ number, tables }) => number / tables)).toEqual(
        names.map((_, index) => (index + 1) / names.length),
      );
    }
    expect(await passed(3)).toHaveLength(3);
  });
});

it('lists each table once', () => {
  const names = DERIVE_TABLES.map(tableName);
  expect(new Set(names).size).toBe(names.length);
});
