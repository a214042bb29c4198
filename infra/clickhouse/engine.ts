/**
 * The embedded engine of a folder, one a process. It does not say when the disk takes nothing more: a statement succeeds, a
 * merge replaces good parts, and what should stand in their files is not there. It counts such writes, though. So it is asked
 * for the count before any write counts as done; when one was lost it is reopened, which sets aside what is broken and
 * takes back the parts that a broken one replaced: docs/decisions/0024-lost-writes.md.
 */
import { existsSync } from 'node:fs';
import { glob, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@clickhouse/client';
import { Session } from 'chdb';
import { createChdbConnection } from 'chdb/connection';
import { PermanentError } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { createFlights, shared } from '../shared.ts';
import { type Settling, settleBrokenParts } from './broken-parts.ts';
import { CONNECTION_SETTINGS, type ConnectionLane, killSql } from './clickhouse.ts';
import { ClickHouseDamaged, ClickHouseOverloaded } from './clickhouse-errors.ts';
import { type Client, settingsList } from './client.ts';

export class ClickHouseStartFailed extends PermanentError {
  constructor(path: string, cause: unknown) {
    super(
      'clickhouse_start_failed',
      `The embedded ClickHouse cannot open ${path}; its own messages are printed above. The log holds everything: remove the ` +
        'folders clickhouse and postgres of DATA_DIR, and both are rebuilt from it.',
      { cause },
    );
  }
}

export interface Engine {
  /** Connections that use the database, which is created when missing; each runs one statement at a time. */
  connect(database: string, count: number): Promise<ConnectionLane[]>;
  /** Runs a statement on a lane; a write that succeeds is on the disk. @throws ClickHouseOverloaded when it was lost */
  run<T>(lane: ConnectionLane, writes: boolean, work: (client: Client) => Promise<T>): Promise<T>;
  /** Tells the engine to end a statement; one that does not look goes on. */
  kill(id: string): void;
  /** The last ones end the engine. */
  release(lanes: readonly ConnectionLane[]): Promise<void>;
}

interface OwnLane extends ConnectionLane {
  client: Client;
  readonly database: string;
}

const CONFIG = fileURLToPath(new URL('./embedded.xml', import.meta.url));
/** A delete returns as soon as it is recorded: reads leave its rows out until a merge has, which it does not wait for. */
const ENGINE_SETTINGS = { ...CONNECTION_SETTINGS, lightweight_deletes_sync: '0', apply_mutations_on_fly: 1 } as const;
const LOST_WRITES = "SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'";
/** Merges lose writes too, and the parts that they replaced stay for 480 s. */
const LOOK_EVERY_MS = 30_000;
/** Stands while the folder is as it was left in order: all that is in it had been acknowledged. */
const CLOSED_MARK = 'closed';

/** Per process, across reopened engines: the count before the folder was last read. */
let lostBefore = 0;

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
  let session: Session | null = null;
  let broken = false;
  const underWay = createUnderWay();
  const flights = createFlights<'mend', void>();

  const lostWrites = shared(async () => Number((await session?.queryAsync(LOST_WRITES))?.text() ?? 0));

  async function open(inserts: Settling['inserts']): Promise<void> {
    await removeEmptyFiles(path);
    try {
      session = new Session(path, { connectionArgs: [`--config-file=${CONFIG}`] });
    } catch (cause) {
      throw new ClickHouseStartFailed(path, cause);
    }
    try {
      await settleBrokenParts({ session, inserts, logger });
    } catch (error) {
      await shut();
      throw error;
    }
  }

  async function shut(): Promise<void> {
    for (const { client } of lanes) await client.close();
    session?.close();
    session = null;
  }

  async function mend(): Promise<void> {
    try {
      await underWay.drained();
      if (session) lostBefore = await lostWrites(); // before the folder is read again, where merges begin at once
      await shut();
      await open('failed');
      for (const lane of lanes) lane.client = await connectTo(path, lane.database);
    } catch (error) {
      if (error instanceof ClickHouseDamaged) throw error;
      throw new ClickHouseOverloaded(`ClickHouse lost writes and cannot be reopened: ${String(error)}`, error);
    }
    broken = false;
    logger?.warn(
      { code: 'clickhouse_overloaded' },
      'ClickHouse lost writes, as on a full disk; it was reopened from its intact parts, and the statements under way are repeated',
    );
  }

  /** The engine is not reopened while it runs. */
  async function during<T>(work: () => Promise<T>): Promise<T> {
    while (broken) await flights('mend', mend);
    return underWay.run(work);
  }

  /** @throws ClickHouseOverloaded */
  async function checkWrites(): Promise<void> {
    if (!broken && (await lostWrites()) === lostBefore) return;
    broken = true;
    throw new ClickHouseOverloaded('ClickHouse could not write its data: is its disk full?', undefined);
  }

  async function openLane(database: string): Promise<OwnLane> {
    const lane = { database, client: await connectTo(path, database) };
    lanes.add(lane);
    return lane;
  }

  async function release(released: readonly ConnectionLane[]): Promise<void> {
    const close = async () => {
      for (const lane of released) {
        lanes.delete(lane as OwnLane);
        await lane.client.close();
      }
    };
    await during(close).catch(close);
    if (lanes.size > 0) return;
    clearInterval(looking);
    engines.delete(path);
    const isWhole = await during(checkWrites).then(
      () => true,
      () => false,
    );
    await shut();
    if (isWhole) await writeFile(mark, '').catch(() => undefined);
  }

  const mark = join(path, CLOSED_MARK);
  await open(existsSync(mark) ? 'acknowledged' : 'unknown');
  await rm(mark, { force: true });
  const looking = setInterval(() => {
    during(checkWrites).catch(() => undefined);
  }, LOOK_EVERY_MS).unref();

  return {
    async connect(database, count) {
      const made: OwnLane[] = [];
      try {
        await during(async () => {
          while (made.length < count) made.push(await openLane(database));
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
      session?.queryAsync(killSql(id)).catch((err: unknown) => {
        logger?.warn({ err }, 'ClickHouse did not cancel a statement that takes too long');
      });
    },
    release,
  };
}

/** A write that succeeds is on the disk; a failure may itself come from lost writes. */
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
    if (error instanceof ClickHouseOverloaded) throw error;
    await forgetFailed(client);
    await checkWrites();
    throw error;
  }
}

/** Counts the work that is under way. */
function createUnderWay() {
  let running = 0;
  let idle: (() => void) | null = null;
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      running++;
      try {
        return await work();
      } finally {
        running--;
        if (running === 0) idle?.();
      }
    },
    /** Resolves once none is; asked by one caller at a time. */
    drained: (): Promise<void> =>
      new Promise((resolve) => {
        idle = resolve;
        if (running === 0) resolve();
      }),
  };
}

async function connectTo(path: string, database: string): Promise<Client> {
  const client = createClient({ connection: createChdbConnection({ path }) } as unknown as Parameters<
    typeof createClient
  >[0]);
  await client.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
  await client.command({ query: `USE ${database}` });
  // Once: with each statement they would cost more than a short statement itself, and stay for the next ones all the same.
  await client.command({ query: `SET ${settingsList(ENGINE_SETTINGS)}` });
  return client;
}

/** A failed insert counts as running until its connection is used again, so waiting for all inserts would never end. */
async function forgetFailed(client: Client): Promise<void> {
  await client.command({ query: 'SELECT 1' });
}

/**
 * A delete or a new table on a full disk leaves an empty file that keeps what it is for from loading. It was never acknowledged;
 * whoever asked for it asks again.
 */
async function removeEmptyFiles(path: string): Promise<void> {
  for await (const name of glob(['store/*/*/mutation_*.txt', 'store/*/*/*.sql', 'metadata/*.sql'], { cwd: path })) {
    const file = join(path, name);
    if ((await stat(file)).size === 0) await rm(file);
  }
}
