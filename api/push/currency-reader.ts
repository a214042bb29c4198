/** Before a subscription: reads what names of currencies mean, but holds no client up, since the stream comes from the log and not from the stores. */
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

/** Subscriptions wait so long for a reading; from then on names mean what they did before it, until it is over. */
const WAIT_MS = 1_000;
/** Between a reading that fails and the next one. */
const REST_MS = 5_000;

/** Null where names mean at once what they can. What it returns never rejects. */
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
          logger.warn(
            { err },
            'the currencies that names of filters mean cannot be read; those known before are meant',
          );
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
