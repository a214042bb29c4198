/** Deletes the stored sides of thresholds once no rewind can need them, and no message about them can be reverted. */
import type { Pool } from 'pg';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import type { ChainConfig } from '../../schemas/config.ts';

/** Depth, in finality depths, of blocks that no rewind removes: a rewind may follow another before the chain has grown back. */
const FINAL_DEPTHS = 2;

const HAS_MESSAGE = 'EXISTS (SELECT FROM webhook_deliveries d WHERE d.id = s.delivery_id)';
/**
 * No rewind undoes a tick before the clock of each chain's final block; at the same clock it may undo ticks of other chains as well.
 * Only the newest of the sides before the first one that may be undone or has a message is kept: it records where the price was.
 */
const FORGET_SQL = `WITH final AS (
    SELECT coalesce((SELECT tick FROM price_ticks
      WHERE tick < block.tick AND clock < block.clock ORDER BY tick DESC LIMIT 1), -1) AS tick
    FROM (SELECT min(coalesce(t.tick, -1)) AS tick, min(coalesce(t.clock, -1)) AS clock
      FROM unnest($1::text[], $2::int[]) AS configured(chain, depth)
      LEFT JOIN ${positionsOf('price')} p ON p.chain = configured.chain
      LEFT JOIN LATERAL (SELECT tick, clock FROM price_ticks
        WHERE chain = configured.chain AND height <= p.height - configured.depth ORDER BY height DESC LIMIT 1) t ON true) block
  ), kept AS (
    SELECT webhook_id, watch, min(s.tick) AS tick FROM webhook_price_sides s, final
    WHERE s.tick > final.tick OR ${HAS_MESSAGE} GROUP BY webhook_id, watch
  ), stands AS (
    SELECT webhook_id, watch, max(s.tick) AS tick FROM webhook_price_sides s
    JOIN price_ticks t ON t.tick = s.tick AND t.hash = s.hash LEFT JOIN kept USING (webhook_id, watch)
    WHERE kept.tick IS NULL OR s.tick < kept.tick GROUP BY webhook_id, watch
  ), needless AS (
    SELECT s.* FROM webhook_price_sides s LEFT JOIN stands USING (webhook_id, watch)
    WHERE s.tick < stands.tick OR (watch < 0 AND NOT ${HAS_MESSAGE}) FOR UPDATE OF s SKIP LOCKED
  )
  DELETE FROM webhook_price_sides s USING needless n
  WHERE (s.webhook_id, s.watch, s.tick, s.hash) = (n.webhook_id, n.watch, n.tick, n.hash)`;

/** Sides that another transaction has locked wait for the next call. */
export async function forgetSides(
  pool: Pick<Pool, 'query'>,
  chains: readonly Pick<ChainConfig, 'name' | 'finalityDepth'>[],
): Promise<void> {
  const depths = chains.map(({ finalityDepth }) => FINAL_DEPTHS * finalityDepth);
  await pool.query(FORGET_SQL, [chains.map(({ name }) => name), depths]);
}
