/** A ClickHouse server or cluster by URL; the database is the URL's path. */
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { type ClickHouse, CONNECTION_SETTINGS, createClickHouse, type Lane } from './clickhouse.ts';

const CONNECTIONS = 8;

/** Connects and asks once, so that a wrong URL or password is known at start. */
export async function connectClickHouse(url: string): Promise<ClickHouse> {
  const client = createClient({
    url,
    max_open_connections: CONNECTIONS,
    request_timeout: 120_000,
    clickhouse_settings: CONNECTION_SETTINGS,
    log: { level: ClickHouseLogLevel.OFF }, // every failure reaches the caller, who logs it once
  });
  const lanes = Array<Lane>(CONNECTIONS).fill({ client });
  const clickhouse = createClickHouse(
    lanes,
    (lane, _, work) => work(lane.client),
    () => client.close(),
  );
  try {
    await clickhouse.query('SELECT 1');
  } catch (error) {
    await clickhouse.close();
    throw error;
  }
  return clickhouse;
}
