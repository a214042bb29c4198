/** The statement that makes the candles of days out of the states of baskets. */

import { IS_LIVE_BASKET_CLICKHOUSE_SQL } from '../../domain/basket-liveness.ts';

const IS_LIVE = `${IS_LIVE_BASKET_CLICKHOUSE_SQL} AND supply > 0`;

/**
 * The basket's token counts as a reserve of full weight, so that one formula prices every pair: reserves of quote for weight of
 * base, divided the other way round, rounded down to 30 decimals. Parameters: generation, `after` (last day that counts), `from`
 * and `until` (seconds).
 */
export const CANDLES_SQL = `INSERT INTO daily_candles
  WITH
    states AS (
      SELECT chain, currency_id AS basket_id, height, any(day) AS day, argMax(flags, (tx_index, vout)) AS flags,
        argMax(currency_states.supply, (tx_index, vout)) AS supply,
        argMax(arrayConcat([toString(currency_id)], arrayMap(id -> toString(id), reserve_ids)), (tx_index, vout)) AS ids,
        argMax(arrayConcat([100000000], weights), (tx_index, vout)) AS weights,
        argMax(arrayConcat([currency_states.supply], reserves), (tx_index, vout)) AS amounts
      FROM currency_states INNER JOIN (
        SELECT chain, height, toDate(clock) AS day FROM blocks
        WHERE clock >= fromUnixTimestamp({from:Int64}) AND clock < fromUnixTimestamp({until:Int64})
      ) AS days USING (chain, height)
      GROUP BY chain, basket_id, height
    ),
    pairs AS (
      SELECT chain, basket_id, height, day, ids, weights, amounts,
        arrayJoin(arrayEnumerate(ids)) AS base, arrayJoin(range(1, length(ids) + 1)) AS quote
      FROM states WHERE ${IS_LIVE}
    ),
    prices AS (
      SELECT chain, basket_id, height, day, ids[base] AS base_id, ids[quote] AS quote_id,
        toDecimal256(intDiv(
          toInt256(amounts[quote]) * weights[base] * toInt256('1000000000000000000000000000000'),
          toInt256(amounts[base]) * weights[quote]
        ), 0) * toDecimal256('0.000000000000000000000000000001', 30) AS price
      FROM pairs
      WHERE base != quote AND least(amounts[base], weights[base], amounts[quote], weights[quote]) > 0
    ),
    candles AS (
      SELECT day, chain, basket_id, base_id, quote_id, argMin(price, height) AS first, max(price) AS most,
        min(price) AS least, argMax(price, height) AS last
      FROM prices GROUP BY day, chain, basket_id, base_id, quote_id
    ),
    known AS (
      SELECT chain, basket_id, base AS base_id, quote AS quote_id, argMax(close, day) AS before FROM daily_candles
      WHERE generation = {generation:UInt32} AND toInt32(day) <= {after:Int32} GROUP BY chain, basket_id, base_id, quote_id
    )
  SELECT {generation:UInt32}, day, chain, basket_id, base_id, quote_id,
    coalesce(
      lagInFrame(toNullable(last)) OVER (
        PARTITION BY chain, basket_id, base_id, quote_id ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
      ), nullIf(before, 0), first
    ) AS opening,
    greatest(most, opening), least(candles.least, opening), last
  FROM candles LEFT JOIN known USING (chain, basket_id, base_id, quote_id)`;
