/** What time does to deliveries: receivers that have something due have a turn, whatever became of it; old deliveries go. */
import { metrics } from '../../infra/metrics.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Config } from '../../schemas/config.ts';
import type { TurnQueue } from './turn-queue.ts';

/** Enabled webhooks with due deliveries, at most 1000 at a time. */
const DUE_SQL = `SELECT DISTINCT d.webhook_id FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE w.enabled AND coalesce(w.held_until <= now(), true) AND d.state = 'pending' AND d.next_attempt_at <= now() LIMIT 1000`;
const readDue = rowReader({ webhook_id: columns.text });
const PENDING_SQL = `SELECT count(*)::int4 AS count FROM webhook_deliveries WHERE state = 'pending'`;
const readCount = rowReader({ count: columns.number });
const KEPT_FOR = '7 days';
/** One that a rewind may still take back stays. */
const FORGET_SQL = `DELETE FROM webhook_deliveries d
  WHERE state IN ('delivered', 'failed') AND created_at < now() - interval '${KEPT_FOR}'
    AND (d.height IS NULL OR d.reverted OR d.height < (SELECT height - $2 FROM ${positionsOf('derive')} p WHERE p.chain = d.chain))
    AND d.chain IS NOT DISTINCT FROM $1`;

export async function sweep(
  postgres: Postgres,
  queue: Pick<TurnQueue, 'wake'>,
  chains: Pick<Config, 'chains'>['chains'],
): Promise<void> {
  await postgres.transaction(async (client) => {
    const rows = await readRows(client, readDue, DUE_SQL);
    await queue.wake(
      client,
      rows.map((row) => row.webhook_id),
    );
  });
  const pending = await readRow(postgres.pool, readCount, PENDING_SQL);
  metrics.webhooksPending.set(pending?.count ?? 0);
  for (const { name, finalityDepth } of chains) await postgres.pool.query(FORGET_SQL, [name, finalityDepth]);
  await postgres.pool.query(FORGET_SQL, [null, 0]);
}
