/** The target of an attack, and helpers to reach it: raw connections from loopback addresses, each of which is another network. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface AttackTarget {
  readonly port: number;
  /** Name of the chain that the service follows. */
  readonly chain: string;
  /** Loopback addresses to attack from; the service treats each as another network. */
  readonly networks: readonly string[];
  readonly random: () => number;
  /** Aborts when the attack is to end. */
  readonly signal: AbortSignal;
  /** Counts one outcome, such as `429` or `closed`. */
  tally(outcome: string): void;
}

export interface Attack {
  readonly name: string;
  /** Ends soon after the signal has aborted. */
  run(target: AttackTarget): Promise<void>;
}

const ANSWER_MS = 3_000;

export function oneOf<T>(random: () => number, choices: readonly T[]): T {
  const chosen = choices[Math.floor(random() * choices.length)];
  if (chosen === undefined) throw new RangeError('nothing to choose from');
  return chosen;
}

/** Returns a random integer in [least, most]. */
export const between = (random: () => number, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));

/** Runs `work` repeatedly in `lanes` parallel loops until the signal aborts. */
export async function repeat(
  { signal }: AttackTarget,
  lanes: number,
  pauseMs: number,
  work: (lane: number) => Promise<void>,
): Promise<void> {
  const loop = async (lane: number) => {
    while (!signal.aborted) {
      await work(lane);
      await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => loop(lane)));
}

/** Opens a connection from one network. Connection errors are outcomes of an attack: they only resolve `closed`. */
export function open(
  { port, signal }: AttackTarget,
  localAddress: string,
): { readonly socket: Socket; readonly closed: Promise<void> } {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => socket.destroy());
  const end = () => socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', end));
  return { socket, closed };
}

/** Sends `parts` one after the other and tallies the status of the first answer, or `closed` or `silent`. */
export async function send(
  target: AttackTarget,
  network: string,
  parts: readonly (string | Buffer)[],
  pauseMs = 0,
): Promise<void> {
  const { socket, closed } = open(target, network);
  let answer = '';
  const answered = new Promise<void>((resolve) => {
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (answer.length < 64) answer += text;
      if (answer.length >= 12) resolve();
    });
  });
  const waiting = new AbortController();
  const silent = sleep(ANSWER_MS, undefined, { signal: waiting.signal }).catch(() => {});
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  await Promise.race([answered, closed, silent]);
  waiting.abort();
  target.tally(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? (socket.destroyed ? 'closed' : 'silent'));
  socket.destroy();
}

/** A POST with a well-formed head. */
export function post(path: string, body: string | Buffer, headers = ''): Buffer {
  const bytes = Buffer.from(body as string);
  return Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${bytes.length}\r\n${headers}\r\n`),
    bytes,
  ]);
}

export const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;
