import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fact } from '../../../schemas/facts.ts';
import { createTestStores, type TestStores } from '../../../test/support/infra/test-stores.ts';
import {
  balance,
  blockOf,
  identity,
  output,
  spend,
  transfer,
} from '../../../test/support/pipeline/sinks/made-facts.ts';
import { factsByType } from '../facts-by-type.ts';
import { EndWithoutRow } from './end-rows.ts';
import { rewindTo, writeFacts } from './postgres-sink.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await createTestStores();
  return () => stores.close();
});

afterEach(() => inTransaction((client) => rewindTo(client, 'c', -1)));

type Client = Parameters<Parameters<TestStores['postgres']['transaction']>[0]>[0];
const inTransaction = <T>(work: (client: Client) => Promise<T>): Promise<T> => stores.postgres.transaction(work);

/** Each inner list is a block; all are written as one batch that begins at `height`. */
function write(height: number, ...blocks: Fact[][]): Promise<void> {
  const derived = blocks.map((facts, index) => blockOf(height + index, facts));
  return inTransaction((client) => writeFacts(client, 'c', factsByType(derived)));
}

async function rows(sql: string): Promise<unknown[][]> {
  const result = await stores.postgres.pool.query({ text: sql, rowMode: 'array' });
  return result.rows as unknown[][];
}

const balances = () => rows('SELECT from_height, to_height, balance FROM balances ORDER BY from_height');
const outputs = () => rows('SELECT n, from_height, to_height, spent_txid, spent_index FROM outputs ORDER BY n');
const identities = () => rows('SELECT from_height, to_height, tx_index FROM identities ORDER BY from_height, tx_index');

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

describe('versions', () => {
  it('end each other within a batch as across batches', async () => {
    const versions = [[balance('R1', 1n)], [balance('R1', 2n)], [], [balance('R1', 3n)]];
    await write(10, ...versions);
    const together = await balances();
    await inTransaction((client) => rewindTo(client, 'c', -1));
    for (const [index, facts] of versions.entries()) await write(10 + index, facts);
    expect(await balances()).toEqual(together);
    expect(together).toEqual([
      [10, 11, 1n],
      [11, 13, 2n],
      [13, null, 3n],
    ]);
  });

  it('end only the newest version of their own key', async () => {
    await write(1, [balance('R1', 1n), balance('R2', 7n)], [balance('R1', 2n)]);
    await write(3, [balance('R1', 3n)]);
    expect(await rows('SELECT address, from_height, to_height FROM balances ORDER BY 1, 2')).toEqual([
      ['R1', 1, 2],
      ['R1', 2, 3],
      ['R1', 3, null],
      ['R2', 1, null],
    ]);
  });

  it('leave another chain alone', async () => {
    const other = factsByType([blockOf(1, [balance('R1', 9n)])]);
    await inTransaction((client) => writeFacts(client, 'other', other));
    await write(2, [balance('R1', 1n)]);
    await inTransaction((client) => rewindTo(client, 'c', 0));
    expect(await balances()).toEqual([[1, null, 9n]]);
    await inTransaction((client) => rewindTo(client, 'other', -1));
  });

  it('of one block are all kept in a table that orders them', async () => {
    await write(5, [identity('iA', 0)]);
    await write(6, [identity('iA', 1), identity('iA', 2)]);
    expect(await identities()).toEqual([
      [5, 6, 0],
      [6, 6, 1],
      [6, null, 2],
    ]);
  });

  it('of one block are reduced to the last in a table without an order', async () => {
    await write(5, [transfer(A, 'pending')], [transfer(A, 'exported'), transfer(A, 'completed')]);
    expect(await rows('SELECT from_height, to_height, status FROM transfers ORDER BY 1')).toEqual([
      [5, 6, 'pending'],
      [6, null, 'completed'],
    ]);
  });

  it('are found by key however many there are', async () => {
    await write(0, ...Array.from({ length: 300 }, (_, index) => [balance('R1', BigInt(index))]));
    await write(300, [balance('R1', 1000n)]);
    expect(await rows('SELECT count(*), count(*) FILTER (WHERE to_height IS NULL) FROM balances')).toEqual([
      [301n, 1n],
    ]);
  });
});

describe('a series', () => {
  it('has the open rows as its newest, and ends like other versions, whatever is written and rewound', async () => {
    const change = fc.record({ key: fc.nat({ max: 3 }), amount: fc.bigInt({ min: 0n, max: 9n }) });
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.nat({ max: 5 }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const stands: (readonly [from: number, address: string, amount: bigint])[][] = [];
        for (const taken of steps) {
          if (typeof taken === 'number') {
            stands.length = Math.max(0, stands.length - taken);
            await inTransaction((client) => rewindTo(client, 'c', stands.length - 1));
            continue;
          }
          const blocks = taken.map((changes) => changes.map(({ key, amount }) => balance(`R${key}`, amount)));
          await write(stands.length, ...blocks);
          for (const changes of taken) {
            const last = new Map(changes.map(({ key, amount }) => [`R${key}`, amount]));
            stands.push([...last].map(([address, amount]) => [stands.length, address, amount] as const));
          }
        }
        const versions = stands.flat();
        const ended = versions.map(([from, address, amount], place) => {
          const next = versions.find(([, other], later) => later > place && other === address);
          return [address, from, next?.[0] ?? null, amount];
        });
        const sorted = (all: readonly unknown[][]) => [...all].sort((one, other) => (`${one}` < `${other}` ? -1 : 1));
        const stored = await rows('SELECT address, from_height, to_height, balance FROM balances');
        expect(sorted(stored)).toEqual(sorted(ended));
        const newest = await rows('SELECT address, balance FROM newest_balances');
        const open = ended.filter(([, , to]) => to === null).map(([address, , , amount]) => [address, amount]);
        expect(sorted(newest)).toEqual(sorted(open));
        await inTransaction((client) => rewindTo(client, 'c', -1));
        expect(await rows('SELECT FROM newest_balances')).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('outputs', () => {
  it('end when they are spent, in the same batch or later', async () => {
    await write(1, [output(A, 0), output(A, 1), output(A, 2)], [spend(A, 1, B, 4)]);
    await write(3, [spend(A, 2, B, 5)]);
    expect(await outputs()).toEqual([
      [0, 1, null, null, null],
      [1, 1, 2, B, 4],
      [2, 1, 3, B, 5],
    ]);
  });

  it('cannot end twice or without having been created', async () => {
    await write(1, [output(A, 0)], [spend(A, 0, B, 0)]);
    await expect(write(3, [spend(A, 0, B, 1)])).rejects.toThrow(EndWithoutRow);
    await expect(write(3, [spend(B, 0, A, 1)])).rejects.toThrow(EndWithoutRow);
  });
});

describe('a rewind', () => {
  it('restores every table, and is idempotent', async () => {
    await write(1, [output(A, 0), balance('R1', 1n), identity('iA', 0)]);
    const before = [await outputs(), await balances(), await identities()];
    await write(2, [spend(A, 0, B, 0), output(B, 0), balance('R1', 5n), identity('iA', 0), identity('iA', 1)]);
    for (const _ of [1, 2]) {
      await inTransaction((client) => rewindTo(client, 'c', 1));
      expect([await outputs(), await balances(), await identities()]).toEqual(before);
    }
  });

  it('reopens the last version that is kept', async () => {
    await write(1, [balance('R1', 1n)], [balance('R1', 2n)], [balance('R1', 3n)]);
    await inTransaction((client) => rewindTo(client, 'c', 2));
    expect(await balances()).toEqual([
      [1, 2, 1n],
      [2, null, 2n],
    ]);
  });
});

it('stores amounts and texts exactly', async () => {
  const most = 9_223_372_036_854_775_807n;
  const data = `{"name":"a\\tb\\\\c \\"q\\"","value":1.00000000,"deep":[1e-8]}`;
  await write(1, [{ ...output(A, 0), value: most, currencies: { iX: most }, data, addresses: ['a"b\\c', '{,}'] }]);
  await write(2, [{ ...balance('R\t1\\', most), received: most * 1000n }]);
  expect(await rows('SELECT value, currencies, data, addresses FROM outputs')).toEqual([
    [most, `{"iX": "${most}"}`, data, ['a"b\\c', '{,}']],
  ]);
  expect(await rows('SELECT address, received FROM balances')).toEqual([['R\t1\\', String(most * 1000n)]]);
});
