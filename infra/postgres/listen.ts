/** Notifications of one channel, on a connection that proves again and again that it still hears. */
import type { Notification } from 'pg';
import type { Logger } from '../logger.ts';
import { pause, repeatUntil } from '../repeat-until.ts';
import type { Postgres } from './postgres.ts';

export interface Listener {
  /** Whether every notification that was committed longer ago than `ms` has been heard. */
  heardWithin(ms: number): boolean;
  stop(): Promise<void>;
}

const PROOF_MS = 250;
const RETRY_MS = 500;

/** `heard` gets the payload; null when the connection was lost or made: what was missed is not known. */
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

  async function follow(): Promise<void> {
    const client = await postgres.pool.connect();
    const lost = new Promise<never>((_, reject) => {
      client.once('error', reject).once('end', () => reject(new Error('the connection ended')));
    });
    lost.catch(() => undefined);
    const onNotification = ({ payload }: Notification): void => heard(payload ?? '');
    client.on('notification', onNotification);
    try {
      await client.query(`LISTEN ${channel}`);
      heard(null); // what came before is unknown
      while (!signal.aborted) {
        const asked = performance.now();
        // Notifications come before the answer to what was asked after them.
        await Promise.race([client.query('SELECT 1'), lost]);
        provenAt = asked;
        await pause(proofMs, signal, false);
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
    heardWithin: (ms) => performance.now() - provenAt <= ms,
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
