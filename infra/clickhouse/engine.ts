/** The embedded engine of a folder, which the connections of this process share; checks that writes reach the disk. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../logger.ts';
import { type ConnectionLane, killSql } from './clickhouse.ts';
import { ClickHouseOverloaded, isConnectionError } from './clickhouse-errors.ts';
import type { Client } from './client.ts';
import { openRunningEngine } from './running-engine.ts';

export interface Engine {
  /** Opens connections to the database, which is created if missing; each runs one statement at a time. */
  connect(database: string, count: number): Promise<ConnectionLane[]>;
  /** Runs a statement on a lane; a write that succeeds is on the disk. @throws ClickHouseOverloaded when the write was lost */
  run<T>(lane: ConnectionLane, writes: boolean, work: (client: Client) => Promise<T>): Promise<T>;
  /** Asks the engine to cancel a statement, which continues if it does not check for cancellation. */
  kill(id: string): void;
  /** Closes the lanes; ends the engine if no lane is left. */
  release(lanes: readonly ConnectionLane[]): Promise<void>;
}

interface OwnLane extends ConnectionLane {
  readonly database: string;
  client: Client;
}

/** Merges lose writes too; this is well within the 480 s for which their source parts are kept. */
const LOOK_EVERY_MS = 30_000;
/** File that exists after an orderly stop: every insert in the folder had been acknowledged. */
const CLOSED_MARK = 'closed';

const engines = new Map<string, Promise<Engine>>();

/** @throws ClickHouseStartFailed, ClickHouseDamaged */
export function openEngine(path: string, logger?: Logger): Promise<Engine> {
  const known = engines.get(path);
  if (known) return known;
  const opened = startEngine(path, logger);
  engines.set(path, opened);
  opened.catch(() => engines.delete(path));
  return opened;
}

async function startEngine(path: string, logger?: Logger): Promise<Engine> {
  const lanes = new Set<OwnLane>();
  const mark = join(path, CLOSED_MARK);
  const { during, checkWrites, connect, command, close } = await openRunningEngine({
    path,
    logger,
    inserts: existsSync(mark) ? 'acknowledged' : 'unknown',
    async onStartedAgain() {
      for (const lane of lanes) lane.client = await connect(lane.database);
    },
  });
  await rm(mark, { force: true });
  const looking = setInterval(() => {
    during(checkWrites).catch(() => undefined);
  }, LOOK_EVERY_MS).unref();

  async function release(released: readonly ConnectionLane[]): Promise<void> {
    const closeLanes = async () => {
      for (const lane of released as readonly OwnLane[]) {
        lanes.delete(lane);
        await lane.client.close();
      }
    };
    await during(closeLanes).catch(closeLanes);
    if (lanes.size > 0) return;
    clearInterval(looking);
    engines.delete(path);
    const isWhole = await during(checkWrites).then(
      () => true,
      () => false,
    );
    await close();
    if (isWhole) await writeFile(mark, '').catch(() => undefined);
  }

  return {
    async connect(database, count) {
      const made: OwnLane[] = [];
      try {
        await during(async () => {
          await command(`CREATE DATABASE IF NOT EXISTS ${database}`);
          while (made.length < count) {
            const lane = { database, client: await connect(database) };
            lanes.add(lane);
            made.push(lane);
          }
          await checkWrites();
        });
      } catch (error) {
        await release(made);
        throw error;
      }
      return made;
    },
    run: (lane, writes, work) => during(() => runChecked(lane, writes, work, checkWrites)),
    kill(id) {
      command(killSql(id)).catch((err: unknown) => {
        logger?.warn({ err }, 'ClickHouse did not cancel a statement that takes too long');
      });
    },
    release,
  };
}

/** Checks for lost writes after each write, and after each failed statement, since lost writes may be its cause. */
async function runChecked<T>(
  { client }: ConnectionLane,
  writes: boolean,
  work: (client: Client) => Promise<T>,
  checkWrites: () => Promise<void>,
): Promise<T> {
  try {
    const result = await work(client);
    if (writes) await checkWrites();
    return result;
  } catch (error) {
    if (error instanceof ClickHouseOverloaded || isConnectionError(error)) throw error;
    await forgetFailed(client);
    await checkWrites();
    throw error;
  }
}

/** A failed insert counts as running until its connection is used again, so waiting for all inserts would never end. */
async function forgetFailed(client: Client): Promise<void> {
  await client.command({ query: 'SELECT 1' });
}
