/** Bytes over a socket, as no HTTP client sends them. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RawAnswer {
  readonly text: string;
  /** Statuses of the answers, in order. */
  readonly statuses: readonly number[];
  /** By the server. */
  readonly closed: boolean;
}

/** A server that says nothing more for so long has said all. */
const QUIET_MS = 3_000;

/** Sends the pieces, each as a segment of its own, and reads until the server closes or has long said nothing. */
export function sendRaw(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  quietMs = QUIET_MS,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let text = '';
    let quiet: NodeJS.Timeout | undefined;
    const done = (closed: boolean) => {
      clearTimeout(quiet);
      socket.destroy();
      resolve({
        text,
        closed,
        statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
      });
    };
    const wait = () => {
      clearTimeout(quiet);
      quiet = setTimeout(() => done(false), quietMs);
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
