/** The invariants as SQL over a range of heights ($2 … $3) of a chain ($1) with the native currency $4. */
import { IS_FRACTIONAL_SQL, IS_LAUNCHED_SQL } from '../../domain/basket-liveness.ts';

/**
 * issued(h) = Δ unspent + Δ shielded + Δ fee pool. Eras, halvings and decays change it in steps and ramps, so it is between the values of
 * the neighbouring blocks unless an output was lost, duplicated or altered. A block is checked once the next block exists.
 * Block 1 contains the initial coins of a chain, so it gives block 2 no useful upper bound.
 */
export const ISSUE_SQL = `WITH span AS (SELECT greatest($2 - 2, 1) AS low),
  flows AS (
    SELECT from_height AS height, sum(value) AS amount FROM outputs, span
      WHERE chain = $1 AND from_height BETWEEN span.low AND $3 GROUP BY from_height
    UNION ALL
    SELECT to_height, -sum(value) FROM outputs, span
      WHERE chain = $1 AND to_height BETWEEN span.low AND $3 GROUP BY to_height
    UNION ALL
    SELECT height, fee_pool - lag FROM (
      SELECT height, coalesce(fee_pool, 0) AS fee_pool, lag(coalesce(fee_pool, 0)) OVER (ORDER BY height) AS lag
      FROM blocks, span WHERE chain = $1 AND height BETWEEN span.low - 1 AND $3
    ) AS pools WHERE lag IS NOT NULL
    UNION ALL
    -- Coins that a transaction with shielded parts neither paid as fee nor sent to transparent outputs were shielded.
    SELECT t.height, coalesce(spent.value, 0) - coalesce(made.value, 0) - t.fee FROM span, transactions t
      LEFT JOIN LATERAL (SELECT sum(value) AS value FROM outputs
        WHERE chain = $1 AND to_height = t.height AND spent_txid = t.txid) AS spent ON true
      LEFT JOIN LATERAL (SELECT sum(value) AS value FROM outputs WHERE chain = $1 AND txid = t.txid) AS made ON true
      WHERE t.chain = $1 AND t.height BETWEEN span.low AND $3 AND 'shielded' = ANY (t.kinds) AND t.fee IS NOT NULL
  ),
  issue AS (
    SELECT height, sum(amount) AS issued, lag(sum(amount)) OVER near AS before, lead(sum(amount)) OVER near AS after
    FROM flows GROUP BY height WINDOW near AS (ORDER BY height)
  )
  SELECT 'native_issue' AS invariant, height, $4::text AS currency_id, NULL AS reserve_id,
    (issued - before)::text AS excess
  FROM issue WHERE height >= 2 AND after IS NOT NULL AND issued NOT BETWEEN least(before, after) AND greatest(before, after)
  ORDER BY height LIMIT 1`;

/**
 * Tokens and baskets of this system that were launched before the range or in it. For those launched before, only changes in the range
 * count; for the others all changes since their definition. The running sums of changes must then stay as they were at the start.
 */
export const CURRENCY_LEDGER_SQL = `WITH defined AS (
    SELECT currency_id, min(from_height) AS height FROM currencies
    WHERE chain = $1 AND from_height <= $3 AND system_id = $4 AND currency_type IN ('token', 'basket') GROUP BY 1
  ),
  ledgers AS MATERIALIZED (
    SELECT currency_id, before.supply, before.reserves,
      CASE WHEN before.${IS_LAUNCHED_SQL} THEN $2 ELSE defined.height END AS counted_from,
      CASE WHEN before.${IS_LAUNCHED_SQL} THEN $2 ELSE launch.height END AS holds_from,
      coalesce(before.${IS_LAUNCHED_SQL}, false) AS is_old
    FROM defined
    LEFT JOIN LATERAL (
      SELECT flags, supply, reserves FROM currency_states s
      WHERE s.chain = $1 AND s.currency_id = defined.currency_id AND from_height < $2
      ORDER BY s.currency_id DESC, from_height DESC, tx_index DESC, vout DESC LIMIT 1
    ) AS before ON true
    LEFT JOIN LATERAL (
      SELECT min(from_height) AS height FROM currency_states s
      WHERE s.chain = $1 AND s.currency_id = defined.currency_id AND from_height BETWEEN $2 AND $3 AND ${IS_LAUNCHED_SQL}
        AND (to_height IS NULL OR to_height > from_height)
    ) AS launch ON NOT coalesce(before.${IS_LAUNCHED_SQL}, false)
    WHERE before.${IS_LAUNCHED_SQL} OR launch.height IS NOT NULL
  ),
  -- The last state of each block.
  states AS MATERIALIZED (
    SELECT s.currency_id, from_height AS height, s.supply, s.reserves, flags,
      lag(s.supply, 1, CASE WHEN is_old THEN ledgers.supply ELSE 0 END) OVER versions AS supply_before,
      lag(s.reserves, 1, CASE WHEN is_old THEN ledgers.reserves ELSE '[]' END) OVER versions AS reserves_before
    FROM currency_states s JOIN ledgers USING (currency_id)
    WHERE chain = $1 AND from_height BETWEEN counted_from AND $3 AND (to_height IS NULL OR to_height > from_height)
    WINDOW versions AS (PARTITION BY s.currency_id ORDER BY from_height)
  ),
  span AS (SELECT least($2, min(counted_from)) AS low FROM ledgers),
  moves AS MATERIALIZED (
    SELECT from_height AS height, 1 AS sign, kind, value, currencies, data FROM outputs, span
      WHERE chain = $1 AND from_height BETWEEN span.low AND $3 AND (currencies IS NOT NULL OR kind = 'reservedeposit')
    UNION ALL
    SELECT to_height, -1, kind, value, currencies, data FROM outputs, span
      WHERE chain = $1 AND to_height BETWEEN span.low AND $3 AND (currencies IS NOT NULL OR kind = 'reservedeposit')
  ),
  deposits AS (
    SELECT data->>'controllingcurrencyid' AS currency_id, height, sign, value, currencies FROM moves
    WHERE kind = 'reservedeposit'
  ),
  changes AS (
    SELECT 'token_supply' AS invariant, currency_id, NULL AS reserve_id, height, (supply - supply_before)::numeric AS amount
      FROM states
    UNION ALL
    SELECT 'token_supply', key, NULL, height, -sign * amount::numeric FROM moves, jsonb_each_text(currencies) AS held(key, amount)
    UNION ALL
    SELECT 'reserve_deposits', currency_id, reserve->>'currencyId', height, (reserve->>'reserves')::numeric
      FROM states, jsonb_array_elements(reserves) AS reserve WHERE ${IS_FRACTIONAL_SQL}
    UNION ALL
    SELECT 'reserve_deposits', currency_id, reserve->>'currencyId', height, -(reserve->>'reserves')::numeric
      FROM states, jsonb_array_elements(reserves_before) AS reserve WHERE ${IS_FRACTIONAL_SQL}
    UNION ALL
    SELECT 'reserve_deposits', currency_id, key, height, -sign * amount::numeric
      FROM deposits, jsonb_each_text(currencies) AS held(key, amount)
    UNION ALL
    SELECT 'reserve_deposits', currency_id, $4, height, -sign * value::numeric FROM deposits WHERE value <> 0
  ),
  running AS (
    SELECT invariant, currency_id, reserve_id, height, holds_from, is_old,
      sum(sum(amount)) OVER (PARTITION BY invariant, currency_id, reserve_id ORDER BY height) AS remainder
    FROM changes JOIN ledgers USING (currency_id) WHERE height >= counted_from
    GROUP BY invariant, currency_id, reserve_id, height, holds_from, is_old
  ),
  -- The remainder that a launch rounded away never belongs to anyone.
  judged AS (
    SELECT *, CASE WHEN invariant = 'token_supply' AND NOT is_old
        THEN greatest(0, first_value(remainder) OVER (PARTITION BY invariant, currency_id, reserve_id ORDER BY height))
        ELSE 0 END AS expected
    FROM running WHERE height >= holds_from
  )
  SELECT DISTINCT ON (invariant, currency_id, reserve_id) invariant, height, currency_id, reserve_id,
    (remainder - expected)::text AS excess
  FROM judged WHERE remainder <> expected
  ORDER BY invariant, currency_id, reserve_id, height`;
