/**
 * Whatever a client sends, a daemon receives only allowed calls, unchanged. The rules are in test/support/api/rpc/harmless-calls.ts and
 * do not use the method table. RPC_FUZZ_RUNS and RPC_HOSTILE_RUNS set the number of runs, TEST_SEED the seed.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { elementTexts } from '../../domain/json/raw-json.ts';
import { nameToAddress } from '../../domain/names.ts';
import { SEED } from '../../test/setup/seed.ts';
import { type Read, sentBodies } from '../../test/support/api/rpc/arbitrary-bodies.ts';
import { createDoubleService } from '../../test/support/api/rpc/double-service.ts';
import { faultOfCall, STARTED, TIP } from '../../test/support/api/rpc/harmless-calls.ts';
import { hostileCalls } from '../../test/support/api/rpc/hostile-calls.ts';
import { textOf } from '../../test/support/api/rpc/recorded-service.ts';
import { RPC_METHODS } from './methods/method-table.ts';
import type { DaemonMethod } from './methods/rpc-method.ts';

const runs = Number(process.env.RPC_FUZZ_RUNS ?? 1500);

const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
/** Bodies nested this deep may be refused, even if the nesting is in an ignored member. */
const DEEP = /(?:[[{]\s*){50}/;
const ANSWERED_HERE = ['getbestblockhash', 'getblockcount', 'getblockhash', 'help'];

const unescaped = (text: string) =>
  text.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
const hasLoneSurrogate = (text: string) => !unescaped(text).isWellFormed();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const mayReceive = (method: string, params: string) => faultOfCall(method, params, elementTexts(params)) === null;

/** A plain harmless call must reach the daemon, unless it is repeatable, guarded, or answered by this service. */
function mustReach({ method, params }: NonNullable<Read>): boolean {
  if (!mayReceive(method, params) || ANSWERED_HERE.includes(method)) return false;
  const { guards = [], repeatable } = RPC_METHODS[method] as DaemonMethod;
  const isPlain = elementTexts(params).every((text) => /^(null|true|false|-?\d{1,9}|"[a-z]{0,9}")$/.test(text));
  return isPlain && repeatable === undefined && guards.length === 0;
}

/** The index knows the chain's own currency and one currency that started after the chain. */
const startOf = (id: string | undefined) => {
  if (id === STARTED) return [{ start_block: 297 }];
  return id === NATIVE ? [{ start_block: 0 }] : [];
};

const world = () =>
  createDoubleService({
    reply: '{"result":null,"error":null,"id":0}\n',
    nativeCurrencyId: NATIVE,
    rows: (sql, [, id]) => (sql.includes('start_block') ? startOf(id) : []),
    tip: () => ({ height: TIP, hash: 'x' }),
    nameToAddress,
  });

test(`${runs} bodies, seed ${SEED}`, async () => {
  const { received, post } = world();
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(sentBodies, async ({ text, reads }) => {
      received.length = 0;
      const answer = await post(Buffer.from(text));
      expect(parsed(textOf(answer))).toBeDefined();
      const isTaken = parsed(text) !== undefined && !hasLoneSurrogate(text);
      if (!isTaken) expect(received).toEqual([]);
      for (const call of received) {
        const read = reads ? reads.find((sent) => sent && printed(sent) === call) : readPrinted(call);
        expect([call, read && mayReceive(read.method, read.params)]).toEqual([call, true]);
      }
      if (!reads || !isTaken || DEEP.test(text)) return;
      const wanted = reads
        .filter((read) => read !== null && mustReach(read))
        .map((read) => printed(read as NonNullable<Read>));
      expect(received.filter((call) => wanted.includes(call))).toEqual(wanted);
      reached += received.length;
    }),
    { seed: SEED, numRuns: runs },
  );
  expect(reached).toBeGreaterThan(runs / 50);
  console.log(`rpc fuzz: seed ${SEED}, ${runs} bodies, ${reached} calls reached the daemon`);
});

const hostileRuns = Number(process.env.RPC_HOSTILE_RUNS ?? 20_000);

test(`${hostileRuns} recorded calls, each with a hostile change, seed ${SEED}`, async () => {
  const { received, post } = world();
  let reached = 0;
  const refused = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(hostileCalls(), async ({ method, params }) => {
      received.length = 0;
      const answer = textOf(await post(Buffer.from(`{"method":${JSON.stringify(method)},"params":${params},"id":7}`)));
      expect(parsed(answer)).toBeDefined();
      for (const call of received) {
        const read = readPrinted(call);
        expect([call.slice(0, 300), read && faultOfCall(read.method, read.params, elementTexts(read.params))]).toEqual([
          call.slice(0, 300),
          null,
        ]);
      }
      if (received.length > 0) reached += 1;
      else refused.set(method, (refused.get(method) ?? 0) + 1);
    }),
    { seed: SEED, numRuns: hostileRuns },
  );
  expect(reached).toBeGreaterThan(hostileRuns / 5);
  expect(refused.size).toBe(Object.keys(RPC_METHODS).length);
  console.log(`rpc fuzz: seed ${SEED}, ${hostileRuns} hostile calls, ${reached} were harmless and reached the daemon`);
});

const printed = ({ method, params, id }: NonNullable<Read>) =>
  `{"method":${JSON.stringify(method)},"params":${params},"id":${id}}`;

/** Splits a received call whose original is unknown: the parameters are the shortest prefix that is a complete JSON array. */
function readPrinted(call: string): Read {
  const { method } = JSON.parse(call) as { method: string };
  const start = `{"method":${JSON.stringify(method)},"params":`.length;
  for (let end = call.indexOf(',"id":', start); end >= 0; end = call.indexOf(',"id":', end + 1)) {
    const params = call.slice(start, end);
    if (Array.isArray(parsed(params))) return { method, params, id: call.slice(end + ',"id":'.length, -1) };
  }
  return null;
}
