/** A running service answers commands through a socket in its data folder: one JSON line asks, JSON lines answer. */
import { existsSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { PermanentError, VerustreamError } from '../../schemas/errors.ts';

export interface ControlRequest {
  readonly command: string;
  readonly args: readonly string[];
}

/** `print` sends a line to the asker at once; the answer is the command's exit code. */
export type ControlHandler = (
  request: ControlRequest,
  print: (line: string) => void,
  signal: AbortSignal,
) => Promise<number>;

type Reply = { readonly line: string } | { readonly exitCode: number };

const MAX_SOCKET_PATH = 100;

/**
 * The operating system limits the length of socket paths, so the shorter way to the folder is taken.
 * @throws PermanentError data_dir_too_long
 */
export function controlSocketPath(folder: string): string {
  const absolute = join(folder, 'control.sock');
  const near = relative(process.cwd(), absolute);
  const path = near.length < absolute.length ? near : absolute;
  if (path.length <= MAX_SOCKET_PATH) return path;
  throw new PermanentError(
    'data_dir_too_long',
    `DATA_DIR ${folder} is too long for a socket in it (${path.length} of at most ${MAX_SOCKET_PATH} characters).`,
  );
}

/** The caller holds the data folder's lock, so a socket file that is there is a leftover. */
export async function serveControl(folder: string, handler: ControlHandler): Promise<{ close(): Promise<void> }> {
  const path = controlSocketPath(folder);
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    answer(socket, handler);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function answer(socket: Socket, handler: ControlHandler): void {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const send = (reply: Reply) => socket.write(`${JSON.stringify(reply)}\n`);
  createInterface({ input: socket }).once('line', async (line) => {
    try {
      const request = JSON.parse(line) as ControlRequest;
      send({ exitCode: await handler(request, (text) => send({ line: text }), gone.signal) });
    } catch (error) {
      const code = error instanceof VerustreamError ? `${error.code}: ` : '';
      send({ line: `${code}${error instanceof Error ? error.message : String(error)}` });
      send({ exitCode: 1 });
    }
    socket.end();
  });
}

/** Asks the service that holds this folder; null when none does. */
export async function askService(
  folder: string,
  request: ControlRequest,
  print: (line: string) => void,
): Promise<number | null> {
  const path = controlSocketPath(folder);
  if (!existsSync(path)) return null;
  const socket = connect(path);
  const connected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  if (!connected) return null;
  socket.write(`${JSON.stringify(request)}\n`);
  for await (const line of createInterface({ input: socket })) {
    const reply = JSON.parse(line) as Reply;
    if ('exitCode' in reply) return reply.exitCode;
    print(reply.line);
  }
  throw new PermanentError(
    'service_gone',
    'The running service ended before it answered. Look at its log and ask again.',
  );
}
