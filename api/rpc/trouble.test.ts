/** A daemon that hangs or is exchanged for another, and bodies that are too much: errors in time, and recovery by itself. */

import { App, type TemplatedApp, us_socket_local_port } from 'uWebSockets.js';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { createDaemonGroup } from '../../infra/verusd/daemon-group.ts';
import { type ScriptedDaemon, startScriptedDaemon } from '../../infra/verusd/testing/scripted-daemon.ts';
import { NO_LINES } from '../http/header-lines.ts';
import { type RpcRoutesOptions, registerRpc } from '../rpc-routes.ts';
import { createRpcHandler } from './rpc-handler.ts';
import { textOf } from './testing/recorded-service.ts';

const logger = pino({ level: 'silent' });
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const closer of closers.splice(0).reverse()) await closer();
});

function handlerOf(daemons: readonly ScriptedDaemon[]) {
  const group = createDaemonGroup({ rpc: daemons.map(({ rpc }) => rpc), chain: 'vrsc', logger, probeMs: 20 });
  closers.push(() => group.close());
  return createRpcHandler({
    chains: [{ name: 'vrsc', rootCurrency: 'VRSC', networkRoot: 'VRSC', finalityDepth: 100, blockSeconds: 60 }],
    daemons: new Map([['vrsc', group]]),
    postgres: { pool: { query: async () => ({ rows: [] }) } } as unknown as Postgres,
    tip: () => null,
    nameToAddress: () => null,
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

test('one daemon stops, the other answers; both stop, -32603; they come back, and so do the answers', async () => {
  const [first, second] = [await start(), await start()];
  const handler = handlerOf([first, second]);
  expect((await ask(handler)).status).toBe(200);
  await first.stop();
  expect((await ask(handler)).status).toBe(200);
  await second.stop();
  const internal = { status: 500, text: '{"result":null,"error":{"code":-32603,"message":"Internal error"},"id":7}\n' };
  expect(await ask(handler)).toEqual(internal);
  await second.start();
  await first.start();
  expect((await ask(handler)).status).toBe(200);
});

test('a daemon that hangs holds up only so many calls; the rest hears so, and all of them end when it goes', async () => {
  const daemon = await start();
  daemon.fault = ({ method }) => (method === 'getblockchaininfo' ? { kind: 'delay', ms: 600_000 } : null);
  const handler = handlerOf([daemon]);
  const outcomes = Array.from({ length: 120 }, () => ask(handler));
  const refused = await Promise.race([
    Promise.any(outcomes.map(async (outcome) => (await outcome).text)),
    sleep(30_000).then(() => 'nothing'),
  ]);
  expect(refused).toContain('"code":-32603,"message":"Work queue depth exceeded"');
  await daemon.stop();
  const texts = (await Promise.all(outcomes)).map(({ text }) => text);
  // Of the seven that a lane runs at once two are the priority lane's; a hundred may wait.
  expect(texts.filter((text) => text.includes('Work queue depth exceeded')).length).toBe(120 - 5 - 100);
  expect(texts.filter((text) => text.includes('Internal error')).length).toBe(5 + 100);
  daemon.fault = () => null;
  await daemon.start();
  expect((await ask(handler)).status).toBe(200);
});

async function listening(daemon: ScriptedDaemon): Promise<number> {
  const app: TemplatedApp = App();
  const admission = { refusal: null, headers: NO_LINES, caller: { key: null }, charged: { giveBack() {} } };
  registerRpc(app, handlerOf([daemon]), {
    config: { chains: [{ name: 'vrsc' }] } as unknown as RpcRoutesOptions['config'],
    underWay: { count: 0 },
    access: { readVisitor: () => ({}), gate: { rpc: () => admission } } as unknown as RpcRoutesOptions['access'],
    logger,
  });
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket ? resolve(us_socket_local_port(socket)) : reject(new Error('no port')),
    );
  });
  closers.push(() => app.close());
  return port;
}

/** Sends the beginning of a body of 30 MB; resolves once the server has closed the connection, or after all was sent. */
function sendMuch(port: number): Promise<'closed' | 'sent'> {
  const size = 30 * 1024 * 1024;
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size + 1}\r\n\r\n`);
      socket.write(Buffer.alloc(size, 32), () => setTimeout(() => resolve('sent'), 1500));
    });
    socket.on('error', () => resolve('closed'));
    socket.on('close', () => resolve('closed'));
    closers.push(() => socket.destroy());
  });
}

test('many large bodies at once: memory for a few, the other connections are closed, and then all is well', async () => {
  const port = await listening(await start());
  const before = process.memoryUsage().rss;
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => sendMuch(port)));
  expect(outcomes.filter((outcome) => outcome === 'closed').length).toBeGreaterThanOrEqual(3);
  expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
  for (const closer of closers.splice(-8)) closer();
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: CALL }).catch(() => null);
    if (answer?.status === 200) return;
    await sleep(100);
  }
  throw new Error('not answered after the large bodies');
});
