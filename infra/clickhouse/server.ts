/** A ClickHouse server or cluster by URL; the database is the URL's path. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { messageOf } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { type ClickHouse, CONNECTION_SETTINGS, type ConnectionLane, createClickHouse, killSql } from './clickhouse.ts';
import { ClickHouseRefused, ClickHouseUnreachable } from './clickhouse-errors.ts';
import type { Client } from './client.ts';

const CONNECTIONS = 8;
/** Longer than any statement may take: the bound of each is kept by whoever asks. */
const REQUEST_MS = 660_000;
/** KILLs at a time: a server that answers none of them would be asked more and more. */
const MOST_KILLS = 8;
/** How long a stop waits for KILLs. */
const KILLS_CLOSE_MS = 1_000;
/** A server in a cloud that sleeps takes so long to wake. */
const FIRST_ANSWER_SECONDS = 30;

/**
 * Connects and asks once, so that a wrong URL or password is known at start.
 * @throws ClickHouseSilent a little after `answerSeconds`, when all connections are closed
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
  /** Has a connection when all others wait for an answer. */
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
    // Without `cause`, which may hold the address with its password.
    throw new ClickHouseRefused(`CLICKHOUSE_URL cannot be used: ${messageOf(error)}`, null);
  }
}

/** An answer that is not ClickHouse's own, such as the page of a proxy, has neither a code nor a class. */
function otherThanClickHouse(error: unknown): never {
  if (!(error instanceof Error) || error.constructor !== Error || 'code' in error) throw error;
  throw new ClickHouseUnreachable(`ClickHouse cannot be reached: ${error.message.slice(0, 200)}`, error);
}
