/** Finds prices that cross a webhook's threshold, tick by tick; if a rewind removes a tick, its crossing is reverted. */
import { crc32 } from 'node:zlib';
import type { PoolClient } from 'pg';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { readStagePositions, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { decimal, writtenNumber } from '../http/values.ts';
import type { ActiveWebhook, ActiveWebhooks } from './active-webhooks.ts';
import { type Delivery, insertDeliveries, revertDeliveries } from './delivery-rows.ts';
import { messageBody, newMessageId } from './message-body.ts';
import { lockWebhooks, type TurnQueue } from './turn-queue.ts';

export interface PriceCrossingOptions {
  readonly postgres: Postgres;
  readonly queue: Pick<TurnQueue, 'wake'>;
  readonly activeWebhooks: ActiveWebhooks;
}

/** Whether there are webhooks, or sides of earlier ones. */
const ANY_SQL = `SELECT EXISTS (SELECT FROM webhooks) OR EXISTS (SELECT FROM webhook_price_sides) AS any`;
const readAny = rowReader({ any: columns.boolean });

const readCrossing = rowReader({
  webhook_id: columns.text,
  watch: columns.number,
  tick: columns.bigint,
  hash: columns.text,
  above: columns.boolean,
  /** Side of the price before; null for the first price. */
  stood: columns.nullable(columns.boolean),
  chain: columns.text,
  height: columns.number,
  time: columns.bigint,
  usd_price: columns.text,
});
type Crossing = RowRead<typeof readCrossing>;

const KIND = 'price.threshold';
/** Only one process at a time checks prices. */
const TRY_LOCK_SQL = `SELECT pg_try_advisory_xact_lock(hashtext('verustream webhook prices')) AS held`;
const readHeld = rowReader({ held: columns.boolean });
/** Changes whenever prices may have changed, or sides were dropped because a webhook was changed, even if it was changed back. */
const NEWEST_SQL = `SELECT concat_ws(' ', g.generation, t.tick, t.hash, (SELECT count(*) FROM webhook_price_sides WHERE watch >= 0)) AS newest
  FROM generations g LEFT JOIN LATERAL (SELECT tick, hash FROM price_ticks ORDER BY tick DESC LIMIT 1) t ON true WHERE g.served`;
const readNewest = rowReader({ newest: columns.text });
const IS_GONE = 'NOT EXISTS (SELECT FROM price_ticks t WHERE t.tick = s.tick AND t.hash = s.hash)';
const ANY_GONE_SQL = `SELECT EXISTS (SELECT FROM webhook_price_sides s WHERE ${IS_GONE}) AS any`;
const GONE_SQL = `DELETE FROM webhook_price_sides s WHERE ${IS_GONE} RETURNING delivery_id`;
const readGone = rowReader({ delivery_id: columns.nullable(columns.text) });
/** More thresholds than a webhook may have. */
const PLACES = 1_000;
const CURRENCIES = 2_000_000;
/**
 * Identifies a threshold by its place in the list and by its currency, because a name may come to mean another one. Versions up to 0.9.1
 * stored the place alone.
 */
const watchOf = (place: number, currencyId: string): number => place + PLACES * (1 + (crc32(currencyId) % CURRENCIES));
/**
 * Complete prices whose side of a threshold differs from the side before: all prices after the last stored side whose tick still exists.
 * A threshold without a stored side, or whose last stored side is of another currency, starts at the newest price.
 */
const CROSSINGS_SQL = `WITH watched AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::numeric[]) AS w(webhook_id, watch, currency_id, usd)
  ), seen AS (
    SELECT w.webhook_id, w.watch, p.tick, p.chain, p.height, p.time, p.usd_price, p.usd_price >= w.usd AS above,
      coalesce(lag(p.usd_price >= w.usd) OVER (PARTITION BY w.webhook_id, w.watch ORDER BY p.tick), last.above) AS stood
    FROM watched w
    LEFT JOIN LATERAL (
      SELECT s.watch, s.tick, s.above FROM webhook_price_sides s JOIN price_ticks t ON t.tick = s.tick AND t.hash = s.hash
      WHERE s.webhook_id = w.webhook_id AND s.watch >= 0 AND s.watch % ${PLACES} = w.watch % ${PLACES}
      ORDER BY s.tick DESC, s.watch = w.watch DESC LIMIT 1
    ) last ON last.watch IN (w.watch, w.watch % ${PLACES})
    JOIN prices p ON p.generation = (SELECT generation FROM generations WHERE served) AND p.currency_id = w.currency_id
      AND p.tick <= (SELECT max(tick) FROM price_ticks)
      AND p.tick >= coalesce(last.tick + 1, (SELECT max(newest.tick) FROM prices newest
        WHERE newest.generation = p.generation AND newest.currency_id = w.currency_id
          AND newest.tick <= (SELECT max(tick) FROM price_ticks)))
  )
  SELECT seen.*, t.hash FROM seen JOIN price_ticks t USING (tick)
  WHERE above IS DISTINCT FROM stood ORDER BY tick, webhook_id, watch % ${PLACES}`;
const SIDES_SQL = `INSERT INTO webhook_price_sides
  SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bytea[], $5::boolean[], $6::text[]) ON CONFLICT DO NOTHING`;

/** Creates the step that checks prices and returns the number of receivers with due deliveries. @throws errors of Postgres; then nothing has changed */
export function createPriceCrossings({ postgres, queue, activeWebhooks }: PriceCrossingOptions): () => Promise<number> {
  let looked = '';

  async function look(client: PoolClient): Promise<{ due: number; seen: string }> {
    const lock = await readRow(client, readHeld, TRY_LOCK_SQL);
    const webhooks = (await activeWebhooks.read(client, null)).filter(({ thresholds }) => thresholds.length > 0);
    const seen = JSON.stringify([(await readRow(client, readNewest, NEWEST_SQL))?.newest, webhooks]);
    if (!lock?.held) return { due: 0, seen: looked };
    // Webhooks are locked before their deliveries, which turns may change at the same time.
    if ((await readRow(client, readAny, ANY_GONE_SQL))?.any) await lockWebhooks(client, null);
    const gone = await readRows(client, readGone, GONE_SQL);
    // Ticks of crossings that another process enqueued may be gone, although this process sees no change.
    if (seen === looked && gone.length === 0) return { due: 0, seen };
    const woken = new Set(
      await revertDeliveries(
        client,
        gone.map((row) => row.delivery_id).filter((id) => id !== null),
      ),
    );
    const made = await enqueueCrossings(client, webhooks);
    for (const id of made ?? []) woken.add(id);
    await queue.wake(client, [...woken]);
    return { due: woken.size, seen: made ? '' : seen }; // new sides were not counted yet
  }

  return async () => {
    if (!(await readRow(postgres.pool, readAny, ANY_SQL))?.any) return 0;
    await activeWebhooks.prepare();
    const { due, seen } = await postgres.transaction(look);
    looked = seen;
    return due;
  };
}

/** Returns the webhooks of the new deliveries; null if no side has changed. */
async function enqueueCrossings(client: PoolClient, webhooks: readonly ActiveWebhook[]): Promise<string[] | null> {
  const crossings = await readCrossings(client, webhooks);
  if (crossings.length === 0) return null;
  const byId = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  const tips = await readStagePositions(client, 'derive');
  const crossingDeliveries = crossings.map((crossing) => ({ crossing, delivery: deliveryOf(crossing, byId, tips) }));
  const made = crossingDeliveries.flatMap(({ delivery }) => delivery ?? []);
  await insertDeliveries(client, made);
  await client.query(SIDES_SQL, [
    crossings.map((row) => row.webhook_id),
    crossings.map((row) => row.watch),
    crossings.map((row) => row.tick),
    crossings.map((row) => hexParam(row.hash)),
    crossings.map((row) => row.above),
    crossingDeliveries.map(({ delivery }) => delivery?.id ?? null),
  ]);
  return made.map(({ webhookId }) => webhookId);
}

function readCrossings(client: PoolClient, webhooks: readonly ActiveWebhook[]): Promise<Crossing[]> {
  const watched = webhooks.flatMap(({ id, thresholds }) =>
    thresholds.map(({ currencyId, usd }, place) => ({ id, watch: watchOf(place, currencyId), currencyId, usd })),
  );
  return readRows(client, readCrossing, CROSSINGS_SQL, [
    watched.map(({ id }) => id),
    watched.map(({ watch }) => watch),
    watched.map(({ currencyId }) => currencyId),
    watched.map(({ usd }) => usd),
  ]);
}

function deliveryOf(
  crossing: Crossing,
  webhooks: ReadonlyMap<string, ActiveWebhook>,
  tips: ReadonlyMap<string, Pick<StagePosition, 'height'>>,
): Delivery | null {
  const { webhook_id: webhookId, watch, above, stood, chain, height, time } = crossing;
  const webhook = webhooks.get(webhookId);
  const threshold = webhook?.thresholds[watch % PLACES];
  const direction = above ? 'above' : 'below';
  if (!webhook || !threshold || stood === null) return null;
  if (threshold.direction !== 'both' && threshold.direction !== direction) return null;
  const { currency, currencyId, usd } = threshold;
  const confirmedAt = height + webhook.confirmations;
  const data = stringifyExact({
    currency,
    currencyId,
    usd: writtenNumber(usd),
    direction,
    usdPrice: decimal(crossing.usd_price),
    height,
    time: Number(time),
  });
  return {
    id: newMessageId(),
    webhookId,
    kind: KIND,
    chain,
    height: null, // it is reverted with its tick, not with its block
    // A price may come long after its block and the blocks that confirm it.
    releaseHeight: webhook.confirmations === 0 || (tips.get(chain)?.height ?? -1) >= confirmedAt ? null : confirmedAt,
    body: messageBody({ type: KIND, at: new Date(Number(time) * 1000), chain, data }),
    reverts: null,
  };
}
