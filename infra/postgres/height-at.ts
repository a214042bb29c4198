/**
 * SQL: height of the last block of a chain whose clock is at most `moment` (seconds since the epoch); NULL before the first. The clock never
 * steps back, so that it is found by halving, however long the chain. `chain` and `moment` are SQL, and so is `newest`, the height to
 * search up to.
 */
export const heightAt = (
  chain: string,
  moment: string,
  newest = `(SELECT max(height) FROM blocks WHERE chain = ${chain})`,
): string => `(WITH RECURSIVE search(low, high) AS (
    SELECT min(height) - 1, ${newest}::integer FROM blocks WHERE chain = ${chain}
    UNION ALL
    SELECT CASE WHEN probe.clock <= ${moment} THEN middle ELSE low END, CASE WHEN probe.clock <= ${moment} THEN high ELSE middle - 1 END
    FROM search
    CROSS JOIN LATERAL (SELECT (low + high + 1) / 2 AS middle) AS half
    CROSS JOIN LATERAL (SELECT clock FROM blocks WHERE chain = ${chain} AND height = middle) AS probe
    WHERE low < high
  ) SELECT low FROM search WHERE low = high AND EXISTS (SELECT FROM blocks WHERE chain = ${chain} AND height = low))`;
