/** `filter.currency` of channel `addresses` and of a webhook matches every currency that moved at the address, also the chain's own. */
import { expect, it } from 'vitest';
import type { ActivityFact } from '../../schemas/facts.ts';
import { blockFact } from '../../test/support/pipeline/sinks/made-facts.ts';
import { createInterest } from '../webhooks/webhook.ts';
import { eventsOfRecord } from './events-of-record.ts';
import { createSubscription } from './subscription.ts';

const CHAIN = 'c';
const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const TOKEN = 'iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ';
const ADDRESS = 'RQVsJRf98iq8YmRQdehzRcbLGHEx6YfjdH';
const OF = { name: CHAIN, finalityDepth: 100, nativeCurrencyId: NATIVE };

function heard(moved: Pick<ActivityFact, 'received' | 'sent' | 'currencies'>, currency: string): boolean {
  const activity: ActivityFact = { type: 'activity', address: ADDRESS, txid: 'ab'.repeat(32), txIndex: 0, ...moved };
  const facts = [blockFact(1), activity];
  const events = eventsOfRecord(OF, { kind: 'facts', position: 0, source: 0, height: 1, hash: '', facts });
  const event = events.find(({ channel }) => channel === 'addresses');
  if (!event) throw new Error('no event');
  const filter = { address: ADDRESS, currency };
  const interest = createInterest(
    { events: ['address.activity'], chains: null, filter, thresholds: [] },
    [CHAIN],
    (text) => [text],
  );
  const isStreamed = createSubscription({ channels: ['addresses'], filter }, [CHAIN], (text) => [text], new Map());
  expect(interest.kindOf(event) !== null).toBe(isStreamed.matches(event));
  return isStreamed.matches(event);
}

const NOTHING = { received: 0n, sent: 0n, currencies: {} };
const token = { [TOKEN]: { received: 5n, sent: 0n } };

it.each([
  ['is received', { ...NOTHING, received: 1n }, [true, false]],
  ['is sent', { ...NOTHING, sent: 1n }, [true, false]],
  ['moves with a token', { received: 1n, sent: 1n, currencies: token }, [true, true]],
  ['does not move, but a token does', { ...NOTHING, currencies: token }, [false, true]],
  ['does not move, and neither does a token', NOTHING, [false, false]],
])("the chain's own currency %s", (_, moved, expected) => {
  expect([heard(moved, NATIVE), heard(moved, TOKEN)]).toEqual(expected);
});
