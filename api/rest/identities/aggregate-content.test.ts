import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ContentUpdate, createContentFold } from './aggregate-content.ts';

const REMOVE = 'i5Zkx5Z7tEfh42xtKfwbJ5LgEWE9rEgpFY';
const A = `i2${'1'.repeat(32)}`;
const Z = `iZ${'1'.repeat(32)}`;

function aggregateContent(updates: readonly ContentUpdate[]) {
  const fold = createContentFold();
  for (const one of updates) fold.add(one);
  return fold.content();
}

const hash = (value: unknown) => `hash of ${JSON.stringify(value)}`;
const update = (content: Record<string, unknown[]>): ContentUpdate => ({
  content,
  hashes: Object.fromEntries(Object.entries(content).map(([key, values]) => [key, values.map(hash)])),
});
const removal = (action: number, entrykey?: string, value?: unknown) => ({
  [REMOVE]: { version: 1, action, entrykey, ...(value === undefined ? {} : { valuehash: hash(value) }) },
});
const removing = (...removals: object[]) => update({ [REMOVE]: removals });

describe('content of several updates', () => {
  it('appends the values of later updates to those of earlier ones, by key', () => {
    expect(aggregateContent([update({ [Z]: ['1'], [A]: ['2'] }), update({}), update({ [A]: ['3', '2'] })])).toEqual({
      [A]: ['2', '3', '2'],
      [Z]: ['1'],
    });
  });

  it.each([
    ['one value', removal(1, A, 'x'), { [A]: ['y', 'x'], [Z]: ['x'] }],
    ['every equal value', removal(2, A, 'x'), { [A]: ['y'], [Z]: ['x'] }],
    ['no value when none has the hash', removal(1, A, 'nothing'), { [A]: ['x', 'y', 'x'], [Z]: ['x'] }],
    ['a key', removal(3, A), { [Z]: ['x'] }],
    ['everything', removal(4), {}],
    ['nothing for an unknown action', removal(5, A), { [A]: ['x', 'y', 'x'], [Z]: ['x'] }],
  ])('removes %s', (_, removed, left) => {
    expect(aggregateContent([update({ [A]: ['x', 'y', 'x'], [Z]: ['x'] }), removing(removed)])).toEqual(left);
  });

  it('takes the first of several objects in one value', () => {
    const before = update({ [A]: ['x'], [Z]: ['x'] });
    const both = update({ [REMOVE]: [[removal(3, Z), removal(3, A)]] });
    expect(aggregateContent([before, both])).toEqual({ [A]: ['x'] });
  });

  it.each(['00', 7, null, {}, []])('treats %j under the removal key neither as a removal nor as content', (value) => {
    expect(aggregateContent([update({ [A]: ['x'] }), update({ [REMOVE]: [value] })])).toEqual({ [A]: ['x'] });
  });

  it('removes values under a smaller key of the same update, and keeps values under a larger one', () => {
    expect(A < REMOVE && REMOVE < Z).toBe(true);
    expect(aggregateContent([update({ [Z]: ['new'], [REMOVE]: [removal(4)], [A]: ['gone'] })])).toEqual({
      [Z]: ['new'],
    });
  });

  it('keeps a value whose hash is not known', () => {
    const unread: ContentUpdate = { content: { [A]: ['x'] }, hashes: null };
    expect(aggregateContent([unread, removing(removal(2, A, 'x'))])).toEqual({ [A]: ['x'] });
  });

  it('is only what came after everything was removed, whatever was there before', () => {
    const updates = fc.array(
      fc.dictionary(fc.constantFrom(A, Z), fc.array(fc.string(), { minLength: 1, maxLength: 3 })).map(update),
    );
    fc.assert(
      fc.property(updates, updates, (before, since) => {
        expect(aggregateContent([...before, removing(removal(4)), ...since])).toEqual(aggregateContent(since));
      }),
    );
  });

  it('equals a straightforward implementation of the rules for random updates', () => {
    const key = fc.constantFrom(A, Z);
    const value = fc.constantFrom('x', 'y', 'z');
    const removed = fc.tuple(fc.integer({ min: 1, max: 4 }), key, value).map((of) => removal(...of));
    const content = fc.record(
      { [A]: fc.array(value), [Z]: fc.array(value), [REMOVE]: fc.array(removed, { maxLength: 2 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(content, { maxLength: 12 }), (contents) => {
        expect(aggregateContent(contents.map((one) => update(one as Record<string, unknown[]>)))).toEqual(
          byTheRules(contents as readonly Record<string, unknown[]>[]),
        );
      }),
    );
  });

  it('takes the same time for an update, however many came before', () => {
    const updates = Array.from({ length: 40_000 }, (_, at) => update({ [A]: [at], [Z]: ['x', 'x', 'x'] }));
    const removals = Array.from({ length: 40_000 }, (_, at) => removing(removal(1, A, at), removal(1, Z, 'x')));
    const before = process.cpuUsage();
    const left = aggregateContent([...updates, ...removals]);
    const { user } = process.cpuUsage(before);
    expect(left).toEqual({ [Z]: Array.from({ length: 80_000 }, () => 'x') });
    // Quadratic work would take more than 20 seconds.
    expect(user / 1e6).toBeLessThan(5);
  });
});

/** A slow reference implementation that changes the list value by value. */
function byTheRules(contents: readonly Record<string, unknown[]>[]): Record<string, unknown[]> {
  let kept: { readonly key: string; readonly value: unknown }[] = [];
  for (const content of contents) {
    for (const key of Object.keys(content).sort()) {
      if (key !== REMOVE) kept.push(...(content[key] ?? []).map((value) => ({ key, value })));
      else {
        for (const { [REMOVE]: removal } of content[key] as Record<string, Removal>[]) {
          const isIn = (entry: (typeof kept)[number]) => entry.key === removal?.entrykey;
          const isMeant = (entry: (typeof kept)[number]) => isIn(entry) && hash(entry.value) === removal?.valuehash;
          const first = kept.findIndex(isMeant);
          if (removal?.action === 1) kept = kept.filter((_, at) => at !== first);
          if (removal?.action === 2) kept = kept.filter((entry) => !isMeant(entry));
          if (removal?.action === 3) kept = kept.filter((entry) => !isIn(entry));
          if (removal?.action === 4) kept = [];
        }
      }
    }
  }
  const lists = [A, Z].map(
    (key) => [key, kept.filter((entry) => entry.key === key).map(({ value }) => value)] as const,
  );
  return Object.fromEntries(lists.filter(([, values]) => values.length > 0));
}

interface Removal {
  readonly action: number;
  readonly entrykey: string;
  readonly valuehash: string;
}
