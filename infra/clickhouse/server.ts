/** A ClickHouse server or cluster by URL; the database is the URL's path. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { messageOf } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { type ClickHouse, CONNECTION_SETTINGS, type ConnectionLane, createClickHouse, killSql } from './clickhouse.ts';
import { ClickHouseRefused, ClickHouseUnreachable } from './clickhouse-errors.ts';
import type { Client } from './client.ts';

const CONNECTIONS = 8;
/** Longer than any statement may take: createClickHouse enforces the limit of each statement. */
const REQUEST_MS = 660_000;
/** Most KILLs at a time, so that they do not pile up at a server that answers none. */
const MOST_KILLS = 8;
/** How long a stop waits for KILLs. */
const KILLS_CLOSE_MS = 1_000;
/** A sleeping cloud server takes this long to wake. */
const FIRST_ANSWER_SECONDS = 30;

/**
 * Connects and runs one query, so that a wrong URL or password is noticed at start.
 * @throws ClickHouseSilent shortly after `answerSeconds`; all connections are closed by then
 */
export async function connectClickHouse(
  url: string,
  logger: Logger,
  answerSeconds = FIRST_ANSWER_SECONDS,
): Promise<ClickHouse> {
  const options = {
    url,
    request_timeout: REQUEST_MS,
    clickhouse_settings: CONNECTION_SETTINGS,
    log: { level: ClickHouseLogLevel.OFF }, // every failure reaches the caller, which logs it once
  };
  const client = openClient({ ...options, max_open_connections: CONNECTIONS });
  /** Has its own connection, for when all others wait for an answer. */
  const killer = openClient({ ...options, max_open_connections: 1, request_timeout: 5_000 });
  /** KILLs under way, by the id of the statement. */
  const kills = new Map<string, Promise<void>>();
  let closing = false;
  const kill = async (id: string) => {
    try {
      await killer.command({ query: killSql(id) });
    } catch (err) {
      if (!closing) logger.warn({ err }, 'ClickHouse did not cancel a statement that takes too long');
    }
    kills.delete(id);
  };
  const clickhouse = createClickHouse({
    lanes: Array<ConnectionLane>(CONNECTIONS).fill({ client }),
    run: (lane, _, work) => work(lane.client).catch(otherThanClickHouse),
    kill(id) {
      if (!kills.has(id) && kills.size < MOST_KILLS) kills.set(id, kill(id));
    },
    isOwn: false,
    async close() {
      closing = true;
      await Promise.race([Promise.all(kills.values()), sleep(KILLS_CLOSE_MS, undefined, { ref: false })]);
      await client.close();
      await killer.close();
    },
  });
  try {
    await clickhouse.query('SELECT 1', {}, { max_execution_time: answerSeconds });
  } catch (error) {
    await clickhouse.close();
    throw error;
  }
  return clickhouse;
}

function openClient(options: Parameters<typeof createClient>[0]): Client {
  try {
    return createClient(options);
  } catch (error) {
    // Without `cause`, which may contain the URL with its password.
    throw new ClickHouseRefused(`CLICKHOUSE_URL cannot be used: ${messageOf(error)}`, null);
  }
}

/** The client throws a plain Error without a code for a response that is not ClickHouse's own, such as a proxy's page. */
function otherThanClickHouse(error: unknown): never {
  if (!(error instanceof Error) || error.constructor !== Error || 'code' in error) throw error;
  throw new ClickHouseUnreachable(`ClickHouse cannot be reached: ${error.message.slice(0, 200)}`, error);
}
