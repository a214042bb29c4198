/** Notices that the machine of a server has vanished while a statement waits for its answer. */
import { connect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorCode } from '../system-errors.ts';
import { ConnectionLostError } from './connection-errors.ts';

/** Errors of a new connection to a machine that does not answer; one that refuses the connection is there. */
const AWAY = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH']);

/**
 * TCP sends no keep-alive probes while sent bytes are unacknowledged: it repeats these for a quarter of an hour, and Node.js cannot set the
 * limit of that (TCP_USER_TIMEOUT). So after each `silentMs` without a byte of an awaited answer, the program opens a second connection
 * to the same address, and destroys `socket` if it is not open within half of that time. A slow statement is not disturbed.
 */
export function destroyIfVanished(socket: Duplex, silentMs: number, isAwaited: () => boolean): void {
  if (!(socket instanceof Socket)) return;
  const { remoteAddress: host, remotePort: port } = socket;
  if (host === undefined || port === undefined) return; // a Unix socket
  socket.setTimeout(silentMs);
  socket.on('timeout', async () => {
    if (!isAwaited()) return;
    const { bytesRead } = socket;
    if (await isThere(host, port, silentMs / 2)) socket.setTimeout(silentMs);
    else if (socket.bytesRead === bytesRead) {
      socket.destroy(new ConnectionLostError(`${host}:${port} does not answer and accepts no new connection`));
    }
  });
}

function isThere(host: string, port: number, limitMs: number): Promise<boolean> {
  const probe = connect({ host, port, timeout: limitMs });
  return new Promise<boolean>((resolve) => {
    probe.once('connect', () => resolve(true));
    probe.once('error', (error) => resolve(!AWAY.has(errorCode(error) ?? '')));
    // One turn later: a process that was paused first reads what has arrived meanwhile.
    probe.once('timeout', () => setImmediate(resolve, false));
  }).finally(() => probe.destroy());
}
