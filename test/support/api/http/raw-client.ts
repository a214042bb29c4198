/** Sends bytes over a socket that no HTTP client would send. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RawAnswer {
  readonly text: string;
  /** Statuses of the answers, in order. */
  readonly statuses: readonly number[];
  /** Closed by the server. */
  readonly closed: boolean;
}

const QUIET_MS = 3_000;
/** A server that owes an answer for this long hangs. */
const HANG_MS = 30_000;
/** A timer that fires this much too late means that this process was paused, and with it the server. */
const LATE_MS = 50;

interface Patience {
  /** Silence of the server after which its output counts as complete. */
  readonly quietMs?: number;
  /** Until this many answers have arrived, silence means a slow machine or a hang. */
  readonly answers?: number;
}

/** Sends each piece as its own segment and reads until the server closes the connection or has been silent for long enough. */
export function sendRaw(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  { quietMs = QUIET_MS, answers = 0 }: Patience = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let text = '';
    let quiet: NodeJS.Timeout | undefined;
    const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    const done = (closed: boolean) => {
      clearTimeout(quiet);
      socket.destroy();
      resolve({ text, closed, statuses: statuses() });
    };
    const wait = () => {
      clearTimeout(quiet);
      const pauseMs = statuses().length < answers ? HANG_MS : quietMs;
      const ends = performance.now() + pauseMs;
      const pause = setTimeout(() => {
        if (performance.now() > ends + LATE_MS) return wait();
        // Reads the socket once more before the silence counts.
        setImmediate(() => {
          if (quiet === pause) done(false);
        });
      }, pauseMs);
      quiet = pause;
    };
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      wait();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(true));
    void (async () => {
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) await sleep(1);
        if (socket.destroyed) return;
        socket.write(piece);
      }
      wait();
    })();
  });
}

/** Returns the first bytes after the head of the answer, once another request follows on the connection. */
export async function behindHead(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const ask = (line: string) => socket.write(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
  ask(request);
  let isFollowed = false;
  let text = '';
  for await (const bytes of socket) {
    text += bytes;
    const [, behind] = text.split(/\r\n\r\n(.*)/s);
    if (behind === undefined) continue;
    if (behind.length > 'HTTP/1.1'.length) return behind;
    if (!isFollowed) ask('GET /nosuch');
    isFollowed = true;
  }
  throw new Error('the connection ended');
}
