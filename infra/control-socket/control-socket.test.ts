import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { PermanentError, RetryableError, UsageError } from '../../schemas/errors.ts';
import { collectedOutput } from '../../test/support/commands/collected-output.ts';
import { askService, controlSocketPath, serveControl } from './control-socket.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const folder = () => mkdtempSync(join(tmpdir(), 'vs-'));

it('carries lines and the exit code', async () => {
  const path = folder();
  const server = await serveControl(path, async ({ command, args }, { print, progress }) => {
    progress('half of it');
    print(`${command} ${args.join(' ')}`);
    return 3;
  });
  closers.push(server.close);
  const { output, lines, notes } = collectedOutput();
  expect(await askService(path, { command: 'status', args: ['a', 'b'] }, output)).toBe(3);
  expect({ lines, notes }).toEqual({ lines: ['status a b'], notes: ['half of it'] });
});

it.each([
  [new Error('no such chain'), PermanentError, 'command_failed'],
  [new RetryableError('postgres_unreachable', 'no such chain'), PermanentError, 'postgres_unreachable'],
  [new UsageError('no such chain'), UsageError, 'usage'],
])('throws what the command threw: %s', async (thrown, kind, code) => {
  const path = folder();
  const server = await serveControl(path, async () => Promise.reject(thrown));
  closers.push(server.close);
  const { output, lines } = collectedOutput();
  const failure: unknown = await askService(path, { command: 'x', args: [] }, output).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(kind);
  expect(failure).toMatchObject({ code, message: 'no such chain' });
  expect(lines).toEqual([]);
});

it('refuses a folder whose path has too many bytes, although it has few enough characters', () => {
  expect(() => controlSocketPath(join(tmpdir(), 'ü'.repeat(60)))).toThrow(/too long for the path of a socket/);
});

it('returns null if no service runs, even next to a leftover file', async () => {
  const path = folder();
  expect(await askService(path, { command: 'status', args: [] }, collectedOutput().output)).toBeNull();
  writeFileSync(join(path, 'control.sock'), '');
  expect(await askService(path, { command: 'status', args: [] }, collectedOutput().output)).toBeNull();
});

it('fails when the service ends in the middle of an answer', async () => {
  const path = folder();
  const server = await serveControl(path, () => {
    setTimeout(() => server.close(), 50);
    return new Promise(() => undefined);
  });
  const asked = askService(path, { command: 'verify', args: [] }, collectedOutput().output);
  await expect(asked).rejects.toThrow(/ended before it answered/);
});

it.each([
  ['in the middle of a line', (socket: Socket) => void socket.end('{"line":"one"}\n{"line":"tw'), ['one']],
  ['with a request that it has not read', (socket: Socket) => void socket.pause().destroy(), []],
])('fails when the service is killed %s', async (_, kill, expected) => {
  const path = folder();
  const server = createServer({ pauseOnConnect: true }, (socket) => setTimeout(kill, 50, socket));
  await once(server.listen(controlSocketPath(path)), 'listening');
  closers.push(async () => void server.close());
  const { output, lines } = collectedOutput();
  const asked = askService(path, { command: 'sql', args: [] }, output);
  await expect(asked).rejects.toMatchObject({ code: 'service_gone' });
  expect(lines).toEqual(expected);
});

it.each([1, 1_000, 100_000])('survives a client that disconnects after %i bytes of a long answer', async (bytes) => {
  const path = folder();
  let ended: unknown = null;
  const server = await serveControl(path, async (_, { print }, signal) => {
    while (!signal.aborted) {
      print('x'.repeat(10_000));
      await sleep(1);
    }
    ended = signal.aborted;
    return 0;
  });
  closers.push(server.close);
  const client = connect(controlSocketPath(path));
  client.write(`${JSON.stringify({ command: 'sql', args: [] })}\n`);
  let read = 0;
  for await (const chunk of client) {
    read += (chunk as Buffer).length;
    if (read >= bytes) break; // destroys the socket, although there is more to read
  }
  await expect.poll(() => ended).toBe(true);
  const { output, lines } = collectedOutput();
  setTimeout(() => server.close(), 50);
  await expect(askService(path, { command: 'sql', args: [] }, output)).rejects.toThrow(/ended before it answered/);
  expect(lines.length).toBeGreaterThan(0);
});

it('close waits until its commands have ended', async () => {
  const path = folder();
  let hasEnded = false;
  const server = await serveControl(path, async (_, __, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await sleep(50);
    hasEnded = true;
    return 0;
  });
  const asked = askService(path, { command: 'verify', args: [] }, collectedOutput().output).catch(() => null);
  await sleep(50);
  await server.close();
  expect(hasEnded).toBe(true);
  await asked;
});

it('closes at once, even if connections have not sent a request yet', async () => {
  const path = folder();
  const server = await serveControl(path, async () => 0);
  const silent = await Promise.all(
    ['', '{"command":'].map(async (text) => {
      const socket = connect(controlSocketPath(path)).on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(text);
      return socket;
    }),
  );
  await sleep(20);
  await server.close();
  for (const socket of silent) socket.destroy();
});

it('a piece resolves when the client has read it', async () => {
  const path = folder();
  const text = 'x'.repeat(20_000_000); // more than any socket buffers
  let isTaken = false;
  const server = await serveControl(path, async (_, { piece }) => {
    await piece(text);
    isTaken = true;
    await piece('end\n');
    return 0;
  });
  closers.push(server.close);
  const client = connect(controlSocketPath(path));
  client.write(`${JSON.stringify({ command: 'sql', args: [] })}\n`);
  await once(client, 'readable');
  expect(isTaken).toBe(false);
  let answered = '';
  for await (const chunk of client.setEncoding('utf8')) answered += chunk;
  expect(isTaken).toBe(true);
  expect(answered).toBe(
    `${[{ text }, { text: 'end\n' }, { exitCode: 0 }].map((reply) => JSON.stringify(reply)).join('\n')}\n`,
  );
  const { output, lines } = collectedOutput();
  expect(await askService(path, { command: 'sql', args: [] }, output)).toBe(0);
  expect(lines).toEqual([`${text}end`]);
});
