/** A time in a query: ISO 8601 UTC (a day, or a day and a time) or seconds since the epoch. */
import { parseUtc } from '../../domain/time.ts';
import { parameterError } from './api-error.ts';

/** Maximum digits of seconds since the epoch; the calendar of Postgres ends within 13 digits. */
const DIGITS = 12;

/** Latest time that ClickHouse can store, in seconds since the epoch; no block is that late. */
export const LAST_MOMENT = 2 ** 32 - 1;

export const SECONDS = { type: 'integer', minimum: 0, maximum: 10 ** DIGITS - 1 } as const;

export const TIME = {
  type: 'string',
  pattern: `^(\\d{1,${DIGITS}}|\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?Z)?)$`,
} as const;

/**
 * Returns the time in seconds since the epoch, rounded up: block times are whole seconds.
 * @throws ApiError invalid_parameter for a date that does not exist
 */
export function parseTime(text: string, name: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  const milliseconds = parseUtc(text);
  if (Number.isNaN(milliseconds)) {
    throw parameterError(name, `${name} is not a date: ${text}`);
  }
  return Math.floor(milliseconds / 1000) + (/\.\d*[1-9]/.test(text) ? 1 : 0);
}
