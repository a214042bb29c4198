/** A client that applies the events of a block and of its corrections holds the values of the newest record, with any filter. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExact } from '../../domain/json/exact-json.ts';
import type { PriceChange, StampedConversion, StampList, StampsRecord } from '../../schemas/log-records.ts';
import { VALUED_STAMP } from '../../test/support/api/push/valued-stamp.ts';
import { correctedConversions, eventsOfStamps } from './events-of-stamps.ts';
import type { PushEvent } from './push-event.ts';
import { createSubscription } from './subscription.ts';

const CHAIN = 'c';
const BLOCK = { source: 0, height: 7, hash: 'ab', time: 9 };
const CURRENCIES = ['i1', 'i2', 'i3'];

const price = fc.record<PriceChange>({
  currencyId: fc.constantFrom(...CURRENCIES),
  tier: fc.nat(2),
  usdPrice: fc.constantFrom('1', '2.5'),
  emaPrice: fc.constant('1'),
  totalDepth: fc.constant('10'),
  sourceBasketId: fc.constantFrom(null, 'i9'),
});
const stamp = fc
  .record({
    txid: fc.constantFrom('aa', 'bb'),
    vout: fc.nat(1),
    fromCurrencyId: fc.constantFrom(...CURRENCIES),
    usdValue: fc.constantFrom(null, '1', '5', '9'),
    provisional: fc.boolean(),
  })
  .map((members): StampedConversion => ({ ...VALUED_STAMP, ...members }));
const state = fc.record({
  prices: fc.uniqueArray(price, { selector: ({ currencyId }) => currencyId }),
  stamps: fc.uniqueArray(stamp, { selector: ({ txid, vout }) => `${txid}:${vout}` }),
  provisional: fc.boolean(),
});
type State = StampList & { readonly provisional: boolean };

const listOf = ({ prices, stamps }: State): StampList => ({ prices, stamps });
const appended = (now: State): StampsRecord => ({ kind: 'stamps', position: 0, ...BLOCK, ...now });
const corrected = (was: State, now: State, position: number): StampsRecord & { kind: 'correction' } => ({
  kind: 'correction',
  position,
  ...BLOCK,
  was: listOf(was),
  wasProvisional: was.provisional,
  now: listOf(now),
  provisional: now.provisional,
});

interface Held {
  readonly currencyId?: string;
  readonly txid?: string;
  readonly vout?: number;
  readonly usdValue?: unknown;
}

const keyOf = ({ currencyId, txid, vout }: Held) => currencyId ?? `${txid}:${vout}`;
const dataOf = (event: PushEvent) => parseExact(event.data());

/** The rows that a client holds after these events. */
function apply(rows: Map<string, unknown>, events: readonly PushEvent[], isWanted: (row: Held) => boolean) {
  for (const event of events) {
    const data = dataOf(event) as Held & { was: Held | null; now: Held | null };
    if (!event.type.endsWith('_correction')) rows.set(keyOf(data), data);
    else {
      if (data.was) rows.delete(keyOf(data.was));
      if (data.now && isWanted(data.now)) rows.set(keyOf(data.now), data.now);
    }
  }
  return Object.fromEntries(rows);
}

it.each([
  ['prices', { channels: ['prices'] }, () => true],
  ['prices of one currency', { channels: ['prices'], filter: { currency: 'i2' } }, () => true],
  [
    'conversions by value',
    { channels: ['conversions'], filter: { minUsd: '5' } },
    ({ usdValue }: Held) => usdValue !== null && Number(usdValue) >= 5,
  ],
])('%s', (_, wish, isWanted) => {
  const { matches } = createSubscription(wish, [CHAIN], (id) => [id], new Map());
  const heard = (record: StampsRecord) => eventsOfStamps(CHAIN, record).filter(matches);
  fc.assert(
    fc.property(state, fc.array(state, { maxLength: 4 }), (first, later) => {
      const rows = new Map<string, unknown>();
      apply(rows, heard(appended(first)), isWanted);
      let was: State = first;
      for (const [index, now] of later.entries()) {
        const events = heard(corrected(was, now, index + 1));
        for (const event of events) {
          const { was: before, now: after } = dataOf(event) as { was: unknown; now: unknown };
          expect(before).not.toEqual(after);
        }
        apply(rows, events, isWanted);
        was = now;
      }
      expect(Object.fromEntries(rows)).toEqual(apply(new Map(), heard(appended(was)), isWanted));
    }),
  );
});

it('lists exactly the conversions whose value differs, whatever is provisional', () => {
  fc.assert(
    fc.property(state, state, (was, now) => {
      const values = ({ stamps }: State) =>
        new Map(stamps.map(({ provisional: _, ...stamp }) => [keyOf(stamp), { ...stamp }] as const));
      const [before, after] = [values(was), values(now)];
      const keys = new Set([...before.keys(), ...after.keys()]);
      const differing = [...keys].filter((key) => !sameRow(before.get(key), after.get(key)));
      const named = correctedConversions(CHAIN, corrected(was, now, 1));
      expect(named.map(keyOf).sort()).toEqual(differing.sort());
      for (const conversion of named) expect(conversion.now !== null).toBe(after.has(keyOf(conversion)));
    }),
  );
});

const sameRow = (a: object | undefined, b: object | undefined) =>
  a !== undefined && b !== undefined && Object.entries(a).every(([name, value]) => value === Reflect.get(b, name));
