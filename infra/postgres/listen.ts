/** Receives the notifications of one channel on a connection that is checked regularly. */
import type { Notification } from 'pg';
import type { Logger } from '../logger.ts';
import { pause, repeatUntil } from '../repeat-until.ts';
import type { Postgres } from './postgres.ts';

export interface Listener {
  /** Returns whether every notification committed more than `ms` ago has been received. */
  heardWithin(ms: number): boolean;
  stop(): Promise<void>;
}

const PROOF_MS = 250;
/** Time between two checks while no caller asks; a connection that ends is noticed anyway. */
const IDLE_PROOF_MS = 5_000;
const RETRY_MS = 500;

/** Calls `heard` with each payload, and with null when the connection was lost or made: notifications may have been missed. */
export function listen(
  postgres: Postgres,
  channel: string,
  heard: (payload: string | null) => void,
  logger: Logger,
  proofMs = PROOF_MS,
): Listener {
  const stopped = new AbortController();
  const { signal } = stopped;
  let provenAt = Number.NEGATIVE_INFINITY;
  /** Whether a caller has asked since the last check. */
  let isAsked = false;
  let asked = new AbortController();

  /** Waits until the next check is due; the first caller after an idle time ends the wait. */
  async function rest(lost: AbortSignal): Promise<void> {
    if (isAsked) {
      isAsked = false;
      return pause(proofMs, [signal, lost], false);
    }
    asked = new AbortController();
    await pause(Math.max(proofMs, IDLE_PROOF_MS), [signal, lost, asked.signal], false);
  }

  async function follow(): Promise<void> {
    const client = await postgres.pool.connect();
    const ended = new AbortController();
    client
      .once('error', (error) => ended.abort(error))
      .once('end', () => ended.abort(new Error('the connection ended')));
    const { signal: lost } = ended;
    const onNotification = ({ payload }: Notification): void => heard(payload ?? '');
    client.on('notification', onNotification);
    try {
      await client.query(`LISTEN ${channel}`);
      heard(null); // earlier notifications may have been missed
      while (!signal.aborted) {
        const began = performance.now();
        // Postgres delivers pending notifications before the answer to a later query.
        await client.query('SELECT 1');
        provenAt = began;
        await rest(lost);
        lost.throwIfAborted();
      }
    } finally {
      provenAt = Number.NEGATIVE_INFINITY;
      client.removeListener('notification', onNotification);
      client.release(true);
    }
  }

  const running = repeatUntil(signal, follow, {
    retryMs: RETRY_MS,
    ref: false,
    onError(err) {
      logger.warn({ err, channel }, 'the connection for notifications from Postgres is lost; trying again');
      heard(null);
    },
  });
  return {
    heardWithin(ms) {
      if (!isAsked) {
        isAsked = true;
        asked.abort();
      }
      return performance.now() - provenAt <= ms;
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
