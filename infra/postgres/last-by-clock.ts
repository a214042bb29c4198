/**
 * SQL that finds the last block or tick up to a moment. Clocks never decrease, so it is a binary search over the history.
 * Arguments are SQL; `moment` is in seconds since the epoch. NULL before the first block or tick.
 */

interface Clocked {
  readonly table: string;
  /** Column that rises with the clock; may have gaps. */
  readonly key: string;
  /** Condition for the rows to search. */
  readonly of: string;
}

function lastByClock({ table, key, of }: Clocked, moment: string, newest = `max(${key})`): string {
  return `(WITH RECURSIVE search(low, high) AS (
    SELECT min(${key})::bigint - 1, (${newest})::bigint FROM ${table} WHERE ${of}
    UNION ALL
    SELECT CASE WHEN probe.clock <= ${moment} THEN middle ELSE low END, CASE WHEN probe.clock <= ${moment} THEN high ELSE middle - 1 END
    FROM search
    CROSS JOIN LATERAL (SELECT (low + high + 1) / 2 AS middle) AS half
    CROSS JOIN LATERAL (SELECT clock FROM ${table} WHERE ${of} AND ${key} <= middle ORDER BY ${key} DESC LIMIT 1) AS probe
    WHERE low < high
  ) SELECT (SELECT max(${key}) FROM ${table} WHERE ${of} AND ${key} <= low) FROM search WHERE low = high)`;
}

/** Height of the last block of a chain, up to height `newest` if given. */
export const heightAt = (chain: string, moment: string, newest?: string): string =>
  lastByClock({ table: 'blocks', key: 'height', of: `chain = ${chain}` }, moment, newest);

export const tickAt = (moment: string): string =>
  lastByClock({ table: 'price_ticks', key: 'tick', of: 'true' }, moment);
