/** Follows the mempool of a chain's daemon: polls once a second, and at once when woken. */
import { performance } from 'node:perf_hooks';
import type { Pool } from 'pg';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import type { Room } from '../../processors/mempool/room.ts';
import type { ChainContext } from '../../processors/state/chain-state.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { MempoolLook, MempoolSource } from '../../schemas/mempool.ts';
import type { MempoolDaemon } from './daemon-mempool.ts';
import { createDecoder } from './decode-unconfirmed.ts';
import { createMempoolLooks } from './mempool-looks.ts';

export interface FollowOptions {
  readonly chain: ChainContext;
  readonly daemon: MempoolDaemon;
  readonly pool: Pool;
  readonly logger: Logger;
  /** For tests. */
  readonly room?: Room;
  readonly everyMs?: number;
}

const ROOM: Room = { transactions: 50_000, bytes: 256 * 1024 * 1024 };
const EVERY_MS = 1_000;
/** Least time between two polls, however often it is woken. */
const LEAST_MS = 50;
const RETRY_MS = 1_000;
/** Pause after a poll, as a multiple of its time: polling takes at most a tenth of the time, so long lists are polled less often. */
const REST = 9;

/** Asks the daemon only after follow() has been called. */
export function openMempool(options: FollowOptions): MempoolSource {
  const { chain, daemon, pool, logger, room = ROOM, everyMs = EVERY_MS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const onFault = (txid: string, err: unknown) =>
    logger.warn({ chain: chain.name, txid, err }, 'a waiting transaction cannot be read; it is not shown');
  const decode = createDecoder({ chain, pool, onFault });
  const looks = createMempoolLooks({ chain: chain.name, daemon, pool, decode, room, signal });
  let resting = new AbortController();
  let isWoken = false;
  let isFailing = false;
  let running: Promise<void> = Promise.resolve();

  async function rest(ms: number): Promise<void> {
    await pause(LEAST_MS, signal);
    resting = new AbortController();
    if (!isWoken) await pause(ms, [resting.signal, signal]);
    isWoken = false;
  }

  async function observed(): Promise<{ readonly look: MempoolLook; readonly isMore: boolean }> {
    const started = performance.now();
    let outcome = 'failed';
    try {
      const made = await looks.look();
      outcome = 'ok';
      return made;
    } finally {
      metrics.mempoolLookSeconds.observe({ chain: chain.name, outcome }, (performance.now() - started) / 1000);
    }
  }

  async function lookAndRest(report: (look: MempoolLook) => void): Promise<void> {
    const started = performance.now();
    const { look, isMore } = await observed();
    if (signal.aborted) return;
    if (isFailing) logger.info({ chain: chain.name }, 'the mempool is followed again');
    isFailing = false;
    metrics.mempoolListed.set({ chain: chain.name }, look.listed);
    metrics.mempoolWithheld.set({ chain: chain.name }, look.withheld);
    metrics.mempoolBytes.set({ chain: chain.name }, looks.bytes);
    report(look);
    await rest(isMore ? 0 : Math.max(everyMs, (performance.now() - started) * REST));
  }

  return {
    follow(report) {
      running = repeatUntil(signal, () => lookAndRest(report), {
        retryMs: RETRY_MS,
        ref: false,
        onError(err) {
          const text = 'the mempool cannot be read; what was known of it is still shown';
          if (!(err instanceof RetryableError)) logger.warn({ chain: chain.name, err }, text);
          // Not a warning: the tailer warns about a daemon that does not answer.
          else if (!isFailing) logger.info({ chain: chain.name, code: err.code, message: err.message }, text);
          isFailing = true;
        },
      });
    },
    wake() {
      isWoken = true;
      resting.abort();
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
