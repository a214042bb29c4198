/** Refreshes the currency names before a subscription without delaying clients for long: the stream needs the log, not the stores. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/logger.ts';
import type { Filter } from './client-message.ts';
import { hasCurrencyNames } from './filter-size.ts';
import type { Names } from './names.ts';

export interface CurrencyReaderOptions {
  readonly names: Pick<Names, 'refresh'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** For tests. */
  readonly waitMs?: number;
  readonly restMs?: number;
}

/** Longest time that subscriptions wait for a refresh; after that, names keep their earlier meaning until the refresh ends. */
const WAIT_MS = 1_000;
/** Pause between a failed refresh and the next one. */
const REST_MS = 5_000;

/** The returned function returns null if there is nothing to wait for; its promise never rejects. */
export function createCurrencyReader(options: CurrencyReaderOptions): (filter: Filter) => Promise<void> | null {
  const { names, logger, waitMs = WAIT_MS, restMs = REST_MS } = options;
  let current: { wait: Promise<void> | null } | null = null;
  let hasFailed = false;

  function begin(reading: Promise<void>): Promise<void> {
    const over = reading.then(
      () => {
        hasFailed = false;
      },
      (err: unknown) => {
        if (!hasFailed)
          logger.warn({ err }, 'the currency names for filters cannot be read; names keep their earlier meaning');
        hasFailed = true;
      },
    );
    const wait = Promise.race([over, sleep(waitMs, undefined, { ref: false })]);
    const mine: { wait: Promise<void> | null } = { wait };
    current = mine;
    void wait.then(() => {
      mine.wait = null;
    });
    void over
      .then(() => (hasFailed ? sleep(restMs, undefined, { ref: false }) : undefined))
      .then(() => {
        current = null;
      });
    return wait;
  }

  return (filter) => {
    if (!hasCurrencyNames(filter)) return null;
    if (current) return current.wait;
    const reading = names.refresh();
    return reading && begin(reading);
  };
}
