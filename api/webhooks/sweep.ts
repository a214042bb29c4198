/** Makes sure that every webhook with due deliveries has a turn, even if its turn was lost, and deletes old deliveries. */
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Config } from '../../schemas/config.ts';
import { isActiveSql, mayReceiveSql } from './active-webhooks.ts';
import { dropBacklogs } from './backlog.ts';
import { forgetSides } from './forget-sides.ts';
import type { TurnQueue } from './turn-queue.ts';

/** Webhooks with due deliveries, at most 1000 at a time. */
const DUE_SQL = `SELECT DISTINCT d.webhook_id FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE ${mayReceiveSql('$1')} AND coalesce(w.held_until <= now(), true) AND d.state = 'pending' AND d.next_attempt_at <= now() LIMIT 1000`;
const readDue = rowReader({ webhook_id: columns.text });
const PENDING_SQL = `SELECT count(*)::int4 AS count FROM webhook_deliveries WHERE state = 'pending'`;
const readCount = rowReader({ count: columns.number });
const KEPT_FOR = '7 days';
const IS_OLD = `d.created_at < now() - interval '${KEPT_FOR}'`;
/** Keeps deliveries that a rewind may still revert, and those whose value the clock of another chain may still correct. */
const IS_OVER = `d.state IN ('delivered', 'failed') AND (d.height IS NULL OR d.reverted
      OR d.height < (SELECT height - $2 FROM ${positionsOf('derive')} p WHERE p.chain = d.chain)
        AND (d.topic <> 'stamps' OR d.height <= (SELECT height FROM ${positionsOf('price')} p WHERE p.chain = d.chain)))`;
const FORGET_SQL = `DELETE FROM webhook_deliveries d WHERE ${IS_OLD} AND ${IS_OVER} AND d.chain IS NOT DISTINCT FROM $1`;
/** The same for chains that are not configured, including held deliveries, which nothing will confirm. */
const FORGET_LEFT_OUT_SQL = `DELETE FROM webhook_deliveries d
  WHERE ${IS_OLD} AND (d.state = 'held' OR ${IS_OVER}) AND d.chain <> ALL($1)`;
/** Old deliveries that wait for a webhook that is not active, because it is disabled or because of its owner, are never sent. */
const GIVE_UP_SQL = `DELETE FROM webhook_deliveries d USING webhooks w
  WHERE w.id = d.webhook_id AND NOT (${isActiveSql('$1')}) AND d.state = 'pending' AND ${IS_OLD}`;

export async function sweep(
  postgres: Postgres,
  queue: Pick<TurnQueue, 'wake'>,
  chains: Pick<Config, 'chains'>['chains'],
  logger: Logger,
): Promise<void> {
  for (const webhook of await dropBacklogs(postgres, queue))
    logger.warn({ webhook }, 'too many messages waited for this webhook; they are dropped, and its owner is notified');
  const names = chains.map(({ name }) => name);
  await postgres.transaction(async (client) => {
    const rows = await readRows(client, readDue, DUE_SQL, [names]);
    await queue.wake(
      client,
      rows.map((row) => row.webhook_id),
    );
  });
  const pending = await readRow(postgres.pool, readCount, PENDING_SQL);
  metrics.webhooksPending.set(pending?.count ?? 0);
  for (const { name, finalityDepth } of chains) await postgres.pool.query(FORGET_SQL, [name, finalityDepth]);
  await postgres.pool.query(FORGET_SQL, [null, 0]);
  await postgres.pool.query(FORGET_LEFT_OUT_SQL, [names, Math.max(...chains.map((chain) => chain.finalityDepth))]);
  await postgres.pool.query(GIVE_UP_SQL, [names]);
  await forgetSides(postgres.pool, chains);
}
