import { describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../schemas/facts.ts';
import { readRow, readRows } from './postgres/read-rows.ts';
import { storedColumns } from './postgres/stored-columns.ts';
import { columns, jsonReader, rowReader } from './row-reader.ts';

const read = rowReader({
  hash: columns.text,
  height: columns.number,
  reward: columns.nullable(columns.bigint),
  kind: columns.choice(['work', 'stake']),
  names: columns.texts,
  made: columns.date,
});
const row = { hash: 'ab', height: 1, reward: null, kind: 'work', names: ['a'], made: new Date(0), further: {} };

describe('a row reader', () => {
  it('returns the row unchanged, including further columns', () => {
    expect(read(row)).toBe(row);
    expect(read({ ...row, reward: 5n })).toEqual({ ...row, reward: 5n });
  });

  it.each([
    [{ hash: 1 }, 'column hash holds number where a text is expected'],
    [{ height: '1' }, 'column height holds string where a number is expected'],
    [{ height: null }, 'column height holds null where a number is expected'],
    [{ reward: 5 }, 'column reward holds number where a bigint or null is expected'],
    [{ kind: 'luck' }, 'column kind holds string where one of work, stake is expected'],
    [{ names: ['a', 1] }, 'column names holds object where a list of texts is expected'],
    [{ made: '1970-01-01' }, 'column made holds string where a date is expected'],
    [{ hash: undefined }, 'column hash holds undefined where a text is expected'],
  ])('refuses %j', (wrong, message) => {
    expect(() => read({ ...row, ...wrong })).toThrow(new TypeError(message));
  });

  it('names a column that the statement does not return', () => {
    const { reward: _, ...without } = row;
    expect(() => read(without)).toThrow(
      new TypeError('a row has no column reward, which should hold a bigint or null'),
    );
  });

  it('reads lists, tuples and conditions', () => {
    const readHeld = rowReader({
      held: columns.list(columns.tuple(columns.number, columns.text)),
      isHeld: columns.flag,
    });
    const held = {
      held: [
        [1, 'a'],
        [2, 'b'],
      ],
      isHeld: 1,
    };
    expect(readHeld(held)).toBe(held);
    expect(readHeld({ held: [], isHeld: false })).toEqual({ held: [], isHeld: false });
    expect(() => readHeld({ ...held, isHeld: 2 })).toThrow('column isHeld holds number where a boolean, 0 or 1 is');
    for (const wrong of [null, 'a', [1, 'a'], [[1]], [['1', 'a']], [[1, 'a', 'b']]]) {
      expect(() => readHeld({ ...held, held: wrong })).toThrow('where a list, each (a number, a text) is expected');
    }
  });

  it('accepts a missing optional member, but not null', () => {
    const readParent = rowReader({ parent: columns.optional(columns.text) });
    expect(readParent({})).toEqual({});
    expect(() => readParent({ parent: null })).toThrow('column parent holds null where a text or nothing is expected');
  });
});

describe('a reader of JSON', () => {
  const coin = { n: columns.number, value: columns.text };
  const readCoins = jsonReader(columns.list(columns.object(coin, { spent: columns.boolean })));

  it('returns the value of the text, with further members and in the same order', () => {
    const text = '[{"value":"5","n":0,"kind":"pubkey"},{"n":1,"value":"6","spent":true}]';
    expect(JSON.stringify(readCoins(text))).toBe(text);
    expect(readCoins('[]')).toEqual([]);
  });

  it.each([
    'null',
    '{}',
    '[null]',
    '["a"]',
    '[[]]',
    '[{"n":0}]',
    '[{"n":"0","value":"5"}]',
    '[{"n":0,"value":"5","spent":1}]',
  ])('refuses %s', (text) => {
    const message = 'a JSON column holds something else than a list, each an object of n, value';
    expect(() => readCoins(text)).toThrow(new TypeError(message));
  });

  it('refuses a text that is not JSON', () => {
    expect(() => readCoins('[')).toThrow(SyntaxError);
  });

  it('reads objects with any keys, and values of either of two types', () => {
    const readTiers = jsonReader(columns.record(columns.either(columns.number, columns.choice(['nav']))));
    expect(readTiers('{"a":1,"b":"nav"}')).toEqual({ a: 1, b: 'nav' });
    for (const wrong of ['[]', '[1]', 'null', '1', '{"a":"b"}', '{"a":null}']) {
      expect(() => readTiers(wrong)).toThrow('than an object, each member a number or one of nav');
    }
  });
});

it('reads every row of a statement, or only the first', async () => {
  const source = {
    query: async (_: unknown, values: unknown[] = []) => ({ rows: values.map((height) => ({ height })) }),
  };
  const readHeight = rowReader({ height: columns.number });
  expect(await readRows(source, readHeight, 'SELECT …', [1, 2])).toEqual([{ height: 1 }, { height: 2 }]);
  expect(await readRow(source, readHeight, 'SELECT …', [1, 2])).toEqual({ height: 1 });
  expect(await readRow(source, readHeight, 'SELECT …')).toBeUndefined();
  await expect(readRows(source, readHeight, 'SELECT …', [1, '2'])).rejects.toThrow(TypeError);
});

it('reads fields of a fact from their columns, and refuses a field that is stored in several columns', () => {
  const { block } = DEFINITIONS;
  expect(Object.keys(storedColumns(block, ['txCount', 'previousHash', 'version']))).toEqual([
    'tx_count',
    'previous_hash',
    'version',
  ]);
  const readBlock = rowReader(storedColumns(block, ['txCount', 'previousHash', 'version']));
  expect(readBlock({ tx_count: 1, previous_hash: null, version: 4n }).version).toBe(4n);
  expect(() => readBlock({ tx_count: 1n, previous_hash: null, version: 4n })).toThrow(TypeError);
  expect(() => storedColumns(block, ['stake'])).toThrow('stake of a block stands in several columns');
});
