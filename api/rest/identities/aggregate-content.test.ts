import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregateContent, type ContentUpdate } from './aggregate-content.ts';

const REMOVE = 'i5Zkx5Z7tEfh42xtKfwbJ5LgEWE9rEgpFY';
const A = `i2${'1'.repeat(32)}`;
const Z = `iZ${'1'.repeat(32)}`;

const hash = (value: unknown) => `hash of ${JSON.stringify(value)}`;
const update = (content: Record<string, unknown[]>): ContentUpdate => ({
  content,
  hashes: Object.fromEntries(Object.entries(content).map(([key, values]) => [key, values.map(hash)])),
});
const removal = (action: number, entrykey?: string, value?: unknown) => ({
  [REMOVE]: { version: 1, action, entrykey, ...(value === undefined ? {} : { valuehash: hash(value) }) },
});
const removing = (...removals: object[]) => update({ [REMOVE]: removals });

describe('aggregateContent', () => {
  it('puts the values of all updates behind each other, by key', () => {
    expect(aggregateContent([update({ [Z]: ['1'], [A]: ['2'] }), update({}), update({ [A]: ['3', '2'] })])).toEqual({
      [A]: ['2', '3', '2'],
      [Z]: ['1'],
    });
  });

  it.each([
    ['one value', removal(1, A, 'x'), { [A]: ['y', 'x'], [Z]: ['x'] }],
    ['every such value', removal(2, A, 'x'), { [A]: ['y'], [Z]: ['x'] }],
    ['a value that is not there', removal(1, A, 'nothing'), { [A]: ['x', 'y', 'x'], [Z]: ['x'] }],
    ['a key', removal(3, A), { [Z]: ['x'] }],
    ['everything', removal(4), {}],
    ['nothing: an unknown action', removal(5, A), { [A]: ['x', 'y', 'x'], [Z]: ['x'] }],
  ])('removes %s', (_, removed, left) => {
    expect(aggregateContent([update({ [A]: ['x', 'y', 'x'], [Z]: ['x'] }), removing(removed)])).toEqual(left);
  });

  it('of several objects in one value takes the first', () => {
    const before = update({ [A]: ['x'], [Z]: ['x'] });
    const both = update({ [REMOVE]: [[removal(3, Z), removal(3, A)]] });
    expect(aggregateContent([before, both])).toEqual({ [A]: ['x'] });
  });

  it.each(['00', 7, null, {}, []])('what is no removal is no content either: %j', (value) => {
    expect(aggregateContent([update({ [A]: ['x'] }), update({ [REMOVE]: [value] })])).toEqual({ [A]: ['x'] });
  });

  it('inside one update what stands under a smaller key goes, what follows stays', () => {
    expect(A < REMOVE && REMOVE < Z).toBe(true);
    expect(aggregateContent([update({ [Z]: ['new'], [REMOVE]: [removal(4)], [A]: ['gone'] })])).toEqual({
      [Z]: ['new'],
    });
  });

  it('keeps a value whose hash is not known', () => {
    const unread: ContentUpdate = { content: { [A]: ['x'] }, hashes: null };
    expect(aggregateContent([unread, removing(removal(2, A, 'x'))])).toEqual({ [A]: ['x'] });
  });

  it('after everything was removed is what came since, whatever was before', () => {
    const updates = fc.array(
      fc.dictionary(fc.constantFrom(A, Z), fc.array(fc.string(), { minLength: 1, maxLength: 3 })).map(update),
    );
    fc.assert(
      fc.property(updates, updates, (before, since) => {
        expect(aggregateContent([...before, removing(removal(4)), ...since])).toEqual(aggregateContent(since));
      }),
    );
  });
});
