/** Errors of derive about its log and its stores. */
import { PermanentError, RetryableError } from '../../schemas/errors.ts';

/** The stores are ahead of the log: they belong to another log, or the log lost records. */
export class LogBehindStores extends PermanentError {
  constructor(chain: string, stored: number, last: number) {
    super(
      'log_behind_stores',
      `The stores of ${chain} are at record ${stored}, but its log ends at ${last}. ` +
        'Give this service the log that the stores were built from, or empty stores.',
    );
  }
}

/** The log reads as empty: a Kafka broker that has just started may not know the topic yet. */
export class LogEmpty extends RetryableError {
  constructor(chain: string, stored: number) {
    super(
      'log_empty',
      `The stores of ${chain} are at record ${stored}, but its log is empty, or the Kafka broker does not know its topic yet. ` +
        'If this does not pass, give this service the log that the stores were built from, or empty stores.',
    );
  }
}

/** The server at CLICKHOUSE_URL was emptied, or is not the one that belongs to this Postgres. */
export class ClickHouseEmptied extends PermanentError {
  constructor(chain: string, height: number) {
    super(
      'clickhouse_emptied',
      `ClickHouse holds no block of ${chain}, but Postgres is at block ${height}. Correct CLICKHOUSE_URL; or, if its database was emptied, ` +
        `run \`verustream dead-letters redrive ${chain} 0\`, which derives all facts again from the log.`,
    );
  }
}

/** The log contains another chain than the stores. */
export class LogDiffers extends PermanentError {
  constructor(message: string) {
    super('log_differs', `${message} Give this service the log that the stores were built from, or empty stores.`);
  }
}

/** The facts topic ends before the stores, so its readers would miss the records in between. */
export class FactsBehindStores extends PermanentError {
  constructor(chain: string, stored: number, published: number) {
    super(
      'facts_behind_stores',
      `The facts topic of ${chain} ${published < 0 ? 'is empty' : `ends at block record ${published}`}, but the stores are at ${stored}. ` +
        'Restore the topic, or start with empty stores: both are then rebuilt from the blocks.',
    );
  }
}
