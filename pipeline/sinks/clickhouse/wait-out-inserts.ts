/** ClickHouse cannot fence an owner that lost its lock, so a new owner waits for inserts that may still arrive. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../../infra/clickhouse/clickhouse.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { LEASE_MS } from '../../stage/stage-lock.ts';

const POLL_MS = 100;

/**
 * Resolves when the lease of an earlier owner in another process has expired and every insert that runs then has ended (ClickHouse
 * bounds each by its own time limits). Sees only the server that it is connected to: on a cluster, all writers must use one replica.
 */
export async function waitOutInserts(clickhouse: ClickHouse, signal: AbortSignal): Promise<void> {
  if (!clickhouse.isOwn) await sleep(LEASE_MS, undefined, { signal });
  let running = await runningInserts(clickhouse);
  while (running.length > 0) {
    await sleep(POLL_MS, undefined, { signal });
    const now = new Set(await runningInserts(clickhouse));
    running = running.filter((id) => now.has(id));
  }
}

const readInsert = rowReader({ query_id: columns.text });

async function runningInserts(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows(
    readInsert,
    `SELECT query_id FROM system.processes WHERE query_kind IN ('Insert', 'AsyncInsertFlush') AND current_database = currentDatabase()`,
  );
  return rows.map((row) => row.query_id);
}
