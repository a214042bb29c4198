import fc from 'fast-check';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { OPEN_TRANSPORT } from '../../test/support/api/push/open-transport.ts';
import { createConnection } from './connection.ts';
import { createHub } from './hub.ts';
import { MAX_ENTRY_CHARACTERS, MAX_ENTRY_LABELS, MAX_FILTER_ENTRIES, MAX_MESSAGE_BYTES, WORK } from './limits.ts';
import { createNetworkShares, type NetworkShares } from './network-share.ts';
import type { PushConnection } from './push-connection.ts';

interface Said {
  readonly type: string;
  readonly id?: unknown;
  readonly code?: string;
  readonly detail?: string;
}

interface Client {
  readonly connection: PushConnection;
  readonly said: Said[];
  closed: number | null;
  say(message: unknown): void;
}

let resolved: string[];
let shares: NetworkShares;
beforeEach(() => {
  resolved = [];
  shares = createNetworkShares();
});

/** A client of a hub that records each name that it is asked to hash. */
function connect(network = 'test'): Client {
  const hub = createHub({
    chains: ['vrsc'],
    feeds: [],
    idsOf: (text) => {
      resolved.push(text);
      return [text];
    },
    logger: pino({ level: 'silent' }),
  });
  const said: Said[] = [];
  const client: { closed: number | null } = { closed: null };
  const connection = createConnection({
    hub,
    share: shares.open(network),
    first: {},
    graceMs: 1e6,
    heartbeatMs: 1e6,
    slowMs: 1e6,
    transport: {
      ...OPEN_TRANSPORT,
      send(json) {
        said.push(JSON.parse(Buffer.from(json).toString()));
        return true;
      },
      end(code) {
        client.closed = code;
      },
    },
  });
  const say = (message: unknown) =>
    connection.receive(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)));
  return Object.assign(client, { connection, said, say });
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 15));
const LISTS = ['currency', 'basket', 'identity', 'address'] as const;

const label = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.constantFrom('a', 'é', '💎', '\0', ' ', '@', '..', 'VRSC'),
);
const name = fc.oneof(
  { weight: 4, arbitrary: label },
  { weight: 2, arbitrary: fc.array(label, { minLength: 1, maxLength: 20 }).map((labels) => labels.join('.')) },
  { weight: 1, arbitrary: fc.nat(600).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.nat(260).map((labels) => 'a.'.repeat(labels)) },
);
const names = fc.oneof(
  name,
  fc.array(name, { maxLength: 40 }),
  fc.tuple(name, fc.nat(1_300)).map(([same, times]) => Array<string>(times).fill(same)),
  fc.nat(1_300).map((count) => Array.from({ length: count }, (_, index) => `n${index}`)),
  fc.array(fc.array(name, { maxLength: 3 }), { maxLength: 3 }),
  fc.array(fc.oneof(name, fc.integer(), fc.constant(null), fc.object({ maxDepth: 1 })), { maxLength: 5 }),
);
const filter = fc.record({ currency: names, basket: names, identity: names, address: names }, { requiredKeys: [] });

describe('a filter', () => {
  it('is refused before any name is hashed if the filters of the connection would exceed its bounds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), filter), { minLength: 1, maxLength: 6 }), async (subscriptions) => {
        resolved = [];
        shares = createNetworkShares();
        const client = connect();
        const held = new Map<number, number>();
        for (const [id, wish] of subscriptions) {
          const before = resolved.length;
          const answers = client.said.length;
          client.say({ op: 'subscribe', id, channels: ['conversions'], filter: wish });
          while (client.said.length === answers) await settle();
          const answer = client.said.at(-1);
          const hashed = resolved.slice(before);
          if (answer?.type !== 'ack') {
            expect(answer).toMatchObject({ type: 'error', detail: expect.stringMatching(/./) });
            expect(hashed).toEqual([]);
            if (client.closed !== null) break;
            continue;
          }
          held.set(
            id,
            LISTS.reduce((sum, list) => sum + [wish[list] ?? []].flat().length, 0),
          );
          expect([...held.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_FILTER_ENTRIES);
          for (const text of hashed) {
            expect(text.length).toBeLessThanOrEqual(MAX_ENTRY_CHARACTERS);
            expect(text.split('.').length).toBeLessThanOrEqual(MAX_ENTRY_LABELS);
          }
        }
        client.connection.closed();
      }),
      { numRuns: 150 },
    );
  });

  it('with 100 names, ids and addresses of each kind is accepted', async () => {
    const client = connect();
    const of = (kind: string) => Array.from({ length: 100 }, (_, index) => `${kind} ${index} 💎.sub.VRSC@`);
    for (const list of LISTS)
      client.say({ op: 'subscribe', id: list, channels: ['txs'], filter: { [list]: of(list) } });
    while (client.said.length < 5) await settle();
    expect(client.said.map(({ type }) => type)).toEqual(['hello', 'ack', 'ack', 'ack', 'ack']);
    expect(resolved.length).toBe(400);
  });

  it('that is sent again and again makes its network wait, but not another one', async () => {
    const address = Array.from({ length: 400 }, (_, index) => `R${index}`);
    for (let number = 0; number < 30; number += 1) {
      const client = connect('busy');
      for (let id = 0; id < 8; id += 1) client.say({ op: 'subscribe', id: 0, filter: { address } });
    }
    await settle();
    expect(resolved.length).toBeLessThanOrEqual(WORK.atOnce + WORK.perMinute / 60);
    const other = connect('quiet');
    other.say({ op: 'subscribe', id: 1, filter: { address } });
    while (other.said.length < 2) await settle();
    expect(other.said.at(-1)).toMatchObject({ type: 'ack', id: 1 });
  });
});

describe('an answer', () => {
  it.each([
    { op: 'x'.repeat(16_000) },
    { op: '"'.repeat(8_000) },
    { op: [[[[1]]]] },
    { op: 'nosuch', id: 'i'.repeat(15_000) },
    { op: 'subscribe', channels: ['"'.repeat(8_000)] },
    { op: 'subscribe', chains: ['\\'.repeat(8_000)] },
    { op: 'subscribe', cursor: 'A'.repeat(16_000) },
    { op: 'subscribe', filter: { currency: 'y'.repeat(480) } },
    { op: 'subscribe', id: 'z'.repeat(15_000) },
    `{"op":"ping","id":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
    `{"op":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
    `${'['.repeat(MAX_MESSAGE_BYTES)}`,
  ])('to an invalid message repeats little of it', async (message) => {
    const client = connect();
    client.say(message);
    while (client.said.length < 2) await settle();
    expect(client.said[1]).toMatchObject({ type: 'error' });
    expect(JSON.stringify(client.said[1]).length).toBeLessThan(800);
    expect(client.closed).toBeNull();
  });
});
