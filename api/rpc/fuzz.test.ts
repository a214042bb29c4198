/**
 * Whatever is sent, a daemon receives exactly what it may receive, or nothing. The rules are written here a second time,
 * apart from the table and the guards. RPC_FUZZ_RUNS and TEST_SEED choose how often and which.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { SEED } from '../../test/setup/seed.ts';
import { RPC_METHODS } from './methods/method-table.ts';
import type { DaemonMethod } from './methods/rpc-method.ts';
import { createRpcHandler } from './rpc-handler.ts';
import { type Read, sentBodies } from './testing/arbitrary-bodies.ts';
import { textOf } from './testing/recorded-service.ts';

const runs = Number(process.env.RPC_FUZZ_RUNS ?? 1500);

const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const FLAGS: Readonly<Record<string, number>> = {
  registeridentity: 1,
  updateidentity: 1,
  revokeidentity: 1,
  recoveridentity: 1,
  setidentitytimelock: 2,
  sendcurrency: 4,
};
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

/** May a daemon that strangers reach receive this call? */
function mayReceive(method: string, params: string): boolean {
  const values = JSON.parse(params) as unknown[];
  const table = RPC_METHODS[method];
  if (!Object.hasOwn(RPC_METHODS, method) || !table) return false;
  const isHistory = method === 'getidentityhistory' && (values.length === 0 || values.length > 3);
  if (table.source !== 'daemon' && !isHistory) return false;
  const flag = FLAGS[method];
  if (flag !== undefined && values[flag] !== true) return false;
  if (/"filename"\s*:/.test(unescaped(params))) return false;
  const name = typeof values[0] === 'string' ? values[0].trim().toLowerCase() : '';
  if (method === 'getinitialcurrencystate' && /^vrsctest(\.|@|$)|^hex:/.test(name)) return false;
  return method !== 'getcurrencybalance' || !/"zs1[0-9a-z]{57}|:private"/.test(unescaped(params));
}

/** Whether a call must reach the daemon: nothing is repeated from memory and nothing is answered here. */
function mustReach({ method, params }: NonNullable<Read>): boolean {
  if (!mayReceive(method, params) || ANSWERED_HERE.includes(method)) return false;
  const { guards = [], repeatable } = RPC_METHODS[method] as DaemonMethod;
  return repeatable === undefined && (guards.length === 0 || FLAGS[method] !== undefined);
}

function world() {
  const received: string[] = [];
  const handler = createRpcHandler({
    chains: [{ name: 'vrsc', rootCurrency: 'VRSCTEST', networkRoot: 'VRSCTEST', finalityDepth: 100, blockSeconds: 60 }],
    daemons: new Map([
      [
        'vrsc',
        {
          async forward(body: string | Uint8Array) {
            received.push(Buffer.from(body).toString());
            return { status: 200, body: Buffer.from('{"result":null,"error":null,"id":0}\n') };
          },
          call: async () => ({ chainid: NATIVE }),
        },
      ],
    ]),
    postgres: { pool: { query: async () => ({ rows: [] }) } } as unknown as Postgres,
    tip: () => null,
    nameToAddress: () => null,
    logger: pino({ level: 'silent' }),
  });
  return { received, post: (body: Uint8Array) => handler('vrsc', body) };
}

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
      if (!reads || !isTaken) return;
      const wanted = reads
        .filter((read) => read !== null && mustReach(read))
        .map((read) => printed(read as NonNullable<Read>));
      expect(received.filter((call) => wanted.includes(call))).toEqual(wanted);
      reached += received.length;
    }),
    { seed: SEED, numRuns: runs },
  );
  expect(reached).toBeGreaterThan(runs / 20);
  console.log(`rpc fuzz: seed ${SEED}, ${runs} bodies, ${reached} calls reached the daemon`);
});

const printed = ({ method, params, id }: NonNullable<Read>) =>
  `{"method":${JSON.stringify(method)},"params":${params},"id":${id}}`;

/** What a call holds when nobody knows what was meant: the shortest beginning of it that is whole. */
function readPrinted(call: string): Read {
  const { method } = JSON.parse(call) as { method: string };
  const start = `{"method":${JSON.stringify(method)},"params":`.length;
  for (let end = call.indexOf(',"id":', start); end >= 0; end = call.indexOf(',"id":', end + 1)) {
    const params = call.slice(start, end);
    if (Array.isArray(parsed(params))) return { method, params, id: call.slice(end + ',"id":'.length, -1) };
  }
  return null;
}
