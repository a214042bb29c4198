/** The worker of this process: runs as many turns at a time as it has places. */
import type { Logger } from '../../infra/logger.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import { type TurnOptions, takeTurn } from './take-turn.ts';
import type { Turn, TurnQueue } from './turn-queue.ts';

export interface TurnsOptions extends TurnOptions {
  readonly queue: TurnQueue;
  readonly logger: Logger;
}

export interface RunningTurns {
  /** Call it when there may be a turn to take. */
  wake(): void;
  /** Settles once the signal has aborted and the turns that were under way have ended. */
  readonly stopped: Promise<void>;
}

/** Turns at a time, each with one connection at most; a hanging receiver occupies one of these places, never two. */
const PLACES = 64;
/** Interval at which turns are looked for that became due with time, or through another process. */
const LOOK_MS = 500;
/** The same interval while no receiver has a turn now or later; the first may come from another process. */
const EMPTY_MS = 5_000;
const RETRY_MS = 1_000;
const TOUCH_MS = 5_000;

export function runTurns(options: TurnsOptions): RunningTurns {
  const { queue, logger, signal } = options;
  const under = new Map<Turn, Promise<void>>();
  let look = new AbortController();

  const wake = () => look.abort();

  async function run(turn: Turn): Promise<void> {
    try {
      await takeTurn(options, turn);
    } catch (err) {
      // The turn's lease ends, and another worker takes it.
      logger.warn({ err, webhook: turn.webhookId }, 'delivering to a webhook failed unexpectedly');
    } finally {
      under.delete(turn);
      wake();
    }
  }

  async function follow(): Promise<void> {
    look = new AbortController();
    const { signal: woken } = look;
    const room = PLACES - under.size;
    const turns = room > 0 ? await queue.take(room) : [];
    for (const turn of turns) under.set(turn, run(turn));
    if (turns.length > 0) return;
    const isEmpty = under.size === 0 && (await queue.isEmpty());
    await pause(isEmpty ? EMPTY_MS : LOOK_MS, [woken, signal]);
  }

  const touching = setInterval(() => {
    queue
      .touch([...under.keys()])
      .catch((err: unknown) => logger.warn({ err }, 'the leases on webhooks could not be renewed'));
  }, TOUCH_MS).unref();

  async function loop(): Promise<void> {
    await repeatUntil(signal, follow, {
      retryMs: RETRY_MS,
      onError: (err) => logger.warn({ err }, 'the webhook queue cannot be read; trying again'),
    });
    await Promise.all(under.values());
    clearInterval(touching);
  }

  return { wake, stopped: loop() };
}
