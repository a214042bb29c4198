/** Daemons that hang or are replaced: errors arrive in time, and the service recovers by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { DaemonTimeout, DaemonUnreachable } from '../../infra/verusd/daemon-errors.ts';
import { createDaemonGroup } from '../../infra/verusd/daemon-group.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { textOf } from '../../test/support/api/rpc/recorded-service.ts';
import { type ScriptedDaemon, startScriptedDaemon } from '../../test/support/infra/verusd/scripted-daemon.ts';
import { QueueFull } from '../access/priority-lanes.ts';
import type { AnswerMethod } from './index-methods.ts';
import { createRpcHandler } from './rpc-handler.ts';

const logger = pino({ level: 'silent' });
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const closer of closers.splice(0).reverse()) await closer();
});

function handlerOf(daemons: readonly ScriptedDaemon[]) {
  const group = createDaemonGroup({
    rpc: daemons.map(({ rpc }) => rpc),
    chain: 'vrsc',
    logger,
    timing: { everyMs: 20, timeoutMs: 2000 },
  });
  closers.push(() => group.close());
  return handlerBefore(group);
}

function handlerBefore(
  daemon: Pick<VerusdClient, 'forward' | 'call'>,
  extensions: Readonly<Record<string, AnswerMethod>> = {},
) {
  return createRpcHandler({
    chains: [
      {
        name: 'vrsc',
        rootCurrency: 'VRSC',
        networkRoot: 'VRSC',
        finalityDepth: 100,
        blockSeconds: 60,
        requireEmptyWallet: false,
      },
    ],
    daemons: new Map([['vrsc', daemon]]),
    postgres: { pool: { query: async () => ({ rows: [] }) } } as unknown as Postgres,
    tip: () => null,
    nameToAddress: () => null,
    extensions,
    logger,
  });
}

async function start(): Promise<ScriptedDaemon> {
  const daemon = await startScriptedDaemon();
  closers.push(() => daemon.stop());
  return daemon;
}

const CALL = '{"id":7,"method":"getblockchaininfo","params":[]}';
const ask = async (handler: ReturnType<typeof handlerOf>, body = CALL) => {
  const answer = await handler('vrsc', Buffer.from(body));
  return { status: answer.status, text: textOf(answer) };
};

test('a second daemon answers when the first stops; -32603 when both stop; answers again when they are back', async () => {
  const [first, second] = [await start(), await start()];
  const handler = handlerOf([first, second]);
  expect((await ask(handler)).status).toBe(200);
  await first.down();
  expect((await ask(handler)).status).toBe(200);
  await second.down();
  const internal = { status: 500, text: '{"result":null,"error":{"code":-32603,"message":"Internal error"},"id":7}\n' };
  expect(await ask(handler)).toEqual(internal);
  await second.up();
  await first.up();
  expect((await ask(handler)).status).toBe(200);
});

test('a daemon that hangs holds a bounded number of calls; the rest is refused, and all calls end when the daemon stops', async () => {
  const daemon = await start();
  daemon.fault = ({ method }) => (method === 'getblockchaininfo' ? { kind: 'delay', ms: 600_000 } : null);
  const handler = handlerOf([daemon]);
  const outcomes = Array.from({ length: 120 }, () => ask(handler));
  const refused = await Promise.race([
    Promise.any(outcomes.map(async (outcome) => (await outcome).text)),
    sleep(30_000).then(() => 'nothing'),
  ]);
  expect(refused).toContain('"code":-32603,"message":"Work queue depth exceeded"');
  // The refusal is charged: otherwise a caller that fills the queue would get all further calls free.
  expect((await handler('vrsc', Buffer.from(CALL))).ourFault).toBe(false);
  await daemon.down();
  const texts = (await Promise.all(outcomes)).map(({ text }) => text);
  // Two of the seven places are reserved for the priority lane; a hundred calls of one caller may wait.
  expect(texts.filter((text) => text.includes('Work queue depth exceeded')).length).toBe(120 - 5 - 100);
  expect(texts.filter((text) => text.includes('Internal error')).length).toBe(5 + 100);
  daemon.fault = () => null;
  await daemon.up();
  expect((await ask(handler)).status).toBe(200);
});

test('a method of this service that finds no place is refused and charged', async () => {
  const full = async () => {
    throw new QueueFull();
  };
  const handler = handlerBefore({ forward: full, call: full }, { getbalanceall: full });
  const answer = await handler(
    'vrsc',
    Buffer.from('{"id":7,"method":"getbalanceall","params":["RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V"]}'),
  );
  expect(textOf(answer)).toContain('"code":-32603,"message":"Work queue depth exceeded"');
  expect(answer.ourFault).toBe(false);
});

test.each([
  [DaemonTimeout, false],
  [DaemonUnreachable, true],
] as const)('a call that fails with %o is refunded: %s', async (failure, ourFault) => {
  const fail = async () => {
    throw new failure('the daemon');
  };
  const handler = handlerBefore({ forward: fail, call: fail });
  for (const body of [CALL, `[${CALL},${CALL}]`]) {
    expect(await handler('vrsc', Buffer.from(body))).toMatchObject({ ourFault });
  }
});
