/** `minUsd` passes exactly the values that are not below it, compared digit by digit, however it is written. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExact } from '../../domain/json/exact-json.ts';
import type { StampsAppended } from '../../schemas/log-records.ts';
import { VALUED_STAMP } from '../../test/support/api/push/valued-stamp.ts';
import { createInterest, parseWebhookSubscription } from '../webhooks/webhook.ts';
import { readClientMessage } from './client-message.ts';
import { eventsOfStamps } from './events-of-stamps.ts';
import type { PushEvent } from './push-event.ts';
import { createSubscription } from './subscription.ts';

const CHAIN = 'c';
const UNITS = 10n ** 38n;

const RECORD: StampsAppended = {
  kind: 'stamps',
  position: 0,
  source: 0,
  height: 0,
  hash: '',
  time: 0,
  provisional: false,
  prices: [],
  stamps: [],
};

function decimalOf(units: bigint): string {
  return `${units / UNITS}.${String(units % UNITS).padStart(38, '0')}`;
}

function matches(event: PushEvent, asked: string): boolean {
  const read = readClientMessage(asked);
  if (!read.ok || read.message.op !== 'subscribe') throw new Error(`${asked} is refused`);
  return createSubscription(read.message, [CHAIN], () => [], new Map()).matches(event);
}

function isPublished(event: PushEvent, minUsd: string): boolean {
  const isSent = matches(event, `{"op":"subscribe","channels":["conversions"],"filter":{"minUsd":${minUsd}}}`);
  const registered = `{"events":["conversion.completed"],"chains":null,"filter":{"minUsd":${minUsd}},"thresholds":[]}`;
  const interest = createInterest(parseWebhookSubscription(registered), [CHAIN], () => []);
  expect(interest.kindOf(event)).toBe(isSent ? 'conversion.completed' : null);
  return isSent;
}

it('passes a value that equals the bound, and none that is one unit less', () => {
  const value = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 70n }), fc.bigInt({ min: 1n, max: 10n ** 40n }));
  fc.assert(
    fc.property(value, (units) => {
      const stamps = [{ ...VALUED_STAMP, usdValue: decimalOf(units) }];
      const [event] = eventsOfStamps(CHAIN, { ...RECORD, stamps });
      if (!event) throw new Error('no event');
      const printed = String((parseExact(event.data()) as { usdValue: unknown }).usdValue);
      for (const written of [printed, decimalOf(units), `${units}e-38`]) {
        if (/\d{39}.*e/.test(written)) continue; // more digits than a bound may have
        expect(isPublished(event, written)).toBe(true);
        expect(isPublished(event, `"${written}"`)).toBe(true);
      }
      expect(isPublished(event, decimalOf(units - 1n))).toBe(true);
      expect(isPublished(event, decimalOf(units + 1n))).toBe(false);
      expect(isPublished(event, `${decimalOf(units)}01`)).toBe(false);
    }),
  );
});

it('sends conversions that count as refunded to subscribers without minUsd, and no other conversion with a stamp', () => {
  const unpaid = { ...VALUED_STAMP, status: 'refunded', usdValue: null, rule: 'unpriced' } as const;
  const stamps = [
    VALUED_STAMP,
    { ...unpaid, reason: 'refunded' } as const,
    { ...unpaid, reason: 'no_delivery' } as const,
  ];
  const events = eventsOfStamps(CHAIN, { ...RECORD, stamps });
  const isSent = (filter: string) =>
    events.map((event) => matches(event, `{"op":"subscribe","channels":["conversions"],"filter":{${filter}}}`));
  expect(isSent('')).toEqual([false, false, true]);
  expect(isSent('"minUsd":0')).toEqual([true, false, false]);
  expect(isSent('"currency":["i1"]').at(-1)).toBe(false);
});

it.each(['-1', '"-1"', '""', '"1,5"', '"0x10"', '1e100', 'null', 'true', '[1]'])('refuses a bound of %s', (minUsd) => {
  expect(readClientMessage(`{"op":"subscribe","filter":{"minUsd":${minUsd}}}`)).toMatchObject({
    ok: false,
    code: 'invalid_message',
  });
});
