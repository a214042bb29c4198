/** A running service answers commands through a socket in its data folder: the request is one JSON line, the answer is JSON lines. */
import { existsSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf, PermanentError, UsageError, VerustreamError } from '../../schemas/errors.ts';
import { fitsSocket, MAX_SOCKET_PATH } from '../socket-path.ts';

export interface ControlRequest {
  readonly command: string;
  readonly args: readonly string[];
}

/** Receives the output of a command. */
export interface ControlOutput {
  /** Writes a line to stdout of the calling process. */
  print(line: string): void;
  /** Writes text to stdout unchanged; resolves when the client has read it or can no longer read it. */
  piece(text: string): Promise<void>;
  /** Writes a line to stderr of the calling process. */
  progress(line: string): void;
}

/** Resolves to the exit code of the command; its errors are rethrown in the calling process. */
export type ControlHandler = (request: ControlRequest, output: ControlOutput, signal: AbortSignal) => Promise<number>;

type Reply =
  | { readonly line: string }
  | { readonly text: string }
  | { readonly progress: string }
  | { readonly exitCode: number }
  | { readonly error: { readonly code: string; readonly message: string } };

/**
 * Returns the shorter of the absolute and the relative path, because the operating system limits the length of socket paths.
 * @throws PermanentError data_dir_too_long
 */
export function controlSocketPath(folder: string): string {
  const absolute = join(folder, 'control.sock');
  const near = relative(process.cwd(), absolute);
  const path = Buffer.byteLength(near) < Buffer.byteLength(absolute) ? near : absolute;
  if (fitsSocket(path)) return path;
  throw new PermanentError(
    'data_dir_too_long',
    `DATA_DIR ${folder} is too long for the path of a socket in it (${Buffer.byteLength(path)} of at most ${MAX_SOCKET_PATH} bytes).`,
  );
}

/** The caller holds the lock of the data folder, so an existing socket file is a leftover. */
export async function serveControl(folder: string, handler: ControlHandler): Promise<{ close(): Promise<void> }> {
  const path = controlSocketPath(folder);
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const answers = new Set<Promise<void>>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    const answering = answer(socket, handler).finally(() => answers.delete(answering));
    answers.add(answering);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(answers); // commands still need resources that the caller closes next
    },
  };
}

async function answer(socket: Socket, handler: ControlHandler): Promise<void> {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const send = (reply: Reply, sent?: () => void) => socket.write(`${JSON.stringify(reply)}\n`, sent);
  const line = await firstLine(socket);
  if (line === null) return;
  try {
    const request = JSON.parse(line) as ControlRequest;
    const output = {
      print: (text: string) => void send({ line: text }),
      piece: (text: string) => new Promise<void>((resolve) => send({ text }, resolve)),
      progress: (text: string) => void send({ progress: text }),
    };
    send({ exitCode: await handler(request, output, gone.signal) });
  } catch (error) {
    const message = messageOf(error);
    const fallback = { code: 'command_failed', message };
    send({ error: error instanceof VerustreamError ? { code: error.code, message } : fallback });
  }
  socket.end();
}

/** Returns null if the connection ends before the first line. */
function firstLine(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve(null)); // readline does not report a destroyed socket
    createInterface({ input: socket })
      .on('error', () => resolve(null)) // readline re-emits errors of the socket, even after the first line
      .once('close', () => resolve(null))
      .once('line', resolve);
  });
}

/** Asks the service that runs in this folder; returns null if none does. @throws PermanentError of the command, service_gone */
export async function askService(
  folder: string,
  request: ControlRequest,
  { print, piece, progress }: ControlOutput,
): Promise<number | null> {
  const path = controlSocketPath(folder);
  if (!existsSync(path)) return null;
  const socket = connect(path);
  const connected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  if (!connected) return null;
  socket.write(`${JSON.stringify(request)}\n`);
  for await (const reply of repliesOf(socket)) {
    if ('exitCode' in reply) return reply.exitCode;
    if ('error' in reply) throw failureOf(reply.error);
    if ('text' in reply) await piece(reply.text);
    else if ('progress' in reply) progress(reply.progress);
    else print(reply.line);
  }
  throw new PermanentError(
    'service_gone',
    'The running service ended before it answered. Check its log and try again.',
  );
}

/** Ends where the answer ends: a service that is killed leaves part of a line, or resets the connection. */
async function* repliesOf(socket: Socket): AsyncGenerator<Reply, void> {
  try {
    for await (const line of createInterface({ input: socket })) yield JSON.parse(line) as Reply;
  } catch {
    socket.destroy();
  }
}

function failureOf({ code, message }: { readonly code: string; readonly message: string }): PermanentError {
  return code === 'usage' ? new UsageError(message) : new PermanentError(code, message);
}
