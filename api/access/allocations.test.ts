/** A customer with an IPv6 /48 has 65,536 networks, each with its own allowance; together they get the allowances of 64 networks. */
import { expect, it } from 'vitest';
import { createMemoryLedger } from '../../test/support/api/access/memory-ledger.ts';
import { createGate } from './gate.ts';
import type { AllowanceLedger } from './ledger.ts';
import { createLimiter } from './limiter.ts';
import { allocationOf } from './visitor.ts';

const TIERS = { free: { creditsPerMinute: 60 }, developer: { creditsPerMinute: 150 }, pro: { creditsPerMinute: 500 } };
const REQUESTS = 100;
const CREDITS = TIERS.free.creditsPerMinute;
const NETWORKS = 64;

function world() {
  let time = 1_000;
  let exchanges = 0;
  const memory = createMemoryLedger();
  const ledger: AllowanceLedger = {
    exchange(...asked) {
      exchanges += 1;
      return memory.exchange(...asked);
    },
  };
  const limiter = createLimiter({ ledger, process: 'a', now: () => time, members: () => 1 });
  const keys = { known: () => undefined, find: async () => null };
  const usage = { record: () => () => undefined };
  const gate = createGate({
    config: { tiers: TIERS, keylessRequestsPerMinute: REQUESTS },
    limiter,
    keys,
    usage,
  });
  const visitor = (network: string) => ({ network, bearer: '', apiKey: '' });
  return {
    exchanges: () => exchanges,
    wait: (ms: number) => {
      time += ms;
    },
    rest: (network: string, credits: number) => gate.rest(visitor(network), { template: '/', credits }),
    async rpc(network: string, requests: number) {
      const entrance = await gate.rpc(visitor(network), '/');
      return entrance.refused ?? (await entrance.settle({ requests, credits: 0 }));
    },
  };
}

const network = (allocation: number, index: number) =>
  `${(0x20010db80000 + allocation).toString(16).padStart(12, '0')}${index.toString(16).padStart(4, '0')}/64`;

it.each([
  ['192.0.2.1', null],
  ['gone', null],
  [network(1, 0), '20010db80001/48'],
  [network(1, 65_535), '20010db80001/48'],
  [network(2, 0), '20010db80002/48'],
])('%s lies in %s', (of, expected) => expect(allocationOf(of)).toBe(expected));

it('all networks of a /48 share the credits of 64 networks, and headers report the allowance of each network', async () => {
  const { rest, exchanges, wait } = world();
  for (let index = 0; index < NETWORKS; index += 1) {
    const admitted = await rest(network(1, index), CREDITS);
    expect(admitted.refusal).toBeNull();
    expect(admitted.headers).toContain(
      `RateLimit-Policy: "requests";q=${REQUESTS};w=60, "credits";q=${CREDITS};w=60\r\n`,
    );
  }
  const before = exchanges();
  for (let index = NETWORKS; index < NETWORKS + 1_000; index += 1) {
    const { refusal } = await rest(network(1, index), 1);
    expect(refusal).toMatchObject({ code: 'rate_limited' });
    expect(refusal?.message).toContain(
      `more than ${NETWORKS * CREDITS} credits of the IPv6 /48 of this address in a minute`,
    );
  }
  expect(exchanges()).toBe(before); // refused networks leave no row in Postgres
  expect((await rest(network(2, 0), 1)).refusal).toBeNull();
  expect((await rest('192.0.2.1', 1)).refusal).toBeNull();
  wait(60_100);
  expect((await rest(network(1, NETWORKS + 1_000), 1)).refusal).toBeNull();
});

it('all networks of a /48 share the requests of 64 networks', async () => {
  const { rpc } = world();
  for (let index = 0; index < NETWORKS; index += 1) expect((await rpc(network(1, index), REQUESTS)).refusal).toBeNull();
  expect((await rpc(network(1, NETWORKS), 1)).refusal).toMatchObject({ code: 'rate_limited' });
});

it('a network that has used up its own allowance is refused, whatever the /48 has left', async () => {
  const { rest } = world();
  await rest(network(1, 0), CREDITS);
  const { refusal } = await rest(network(1, 0), 1);
  expect(refusal?.message).toMatch(new RegExp(`^more than ${CREDITS} credits in a minute: ask again in \\d+ s$`));
  expect((await rest(network(1, 1), 1)).refusal).toBeNull();
});

it('a refusal names the allowances that are used up, and no others', async () => {
  const { rest, rpc } = world();
  for (let asked = 0; asked < 20; asked += 1) await rest('192.0.2.1', 2);
  const messageOf = async (credits: number) => (await rest('192.0.2.1', credits)).refusal?.message;
  expect(await messageOf(50)).toMatch(`more than ${CREDITS} credits in a minute`);
  await rpc('192.0.2.1', REQUESTS - 20);
  expect(await messageOf(2)).toMatch(`more than ${REQUESTS} requests in a minute`);
  expect(await messageOf(50)).toMatch(`more than ${REQUESTS} requests and ${CREDITS} credits in a minute`);
});

it('a /48 counts as one payer where callers take turns', async () => {
  const { rest } = world();
  const payers = new Set<string>();
  for (let index = 0; index < 5; index += 1) payers.add((await rest(network(1, index), 1)).caller.payer);
  expect([...payers]).toEqual(['20010db80001/48']);
  expect((await rest('192.0.2.1', 1)).caller.payer).toBe('192.0.2.1');
});
