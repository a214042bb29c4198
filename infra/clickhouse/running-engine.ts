/**
 * The process of the embedded engine, restarted when it ends and when it has lost writes. The engine does not report failed writes:
 * on a full disk a statement succeeds, or a merge replaces good parts, while the new files are incomplete. But it counts failed writes,
 * so the count is read before any write counts as done. A restart sets broken parts aside and reactivates the parts that they
 * replaced: docs/decisions/0024-lost-writes.md.
 */
import { glob, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, PermanentError } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { shared } from '../shared.ts';
import { type Settling, settleBrokenParts } from './broken-parts.ts';
import { CONNECTION_SETTINGS } from './clickhouse.ts';
import {
  ClickHouseDamaged,
  ClickHouseEnded,
  ClickHouseOverloaded,
  isConnectionError,
  REBUILD,
} from './clickhouse-errors.ts';
import { type Client, settingsList } from './client.ts';
import { type EngineProcess, startEngineProcess } from './engine-process/start.ts';

export class ClickHouseStartFailed extends PermanentError {
  constructor(path: string, cause: unknown) {
    super(
      'clickhouse_start_failed',
      `The embedded ClickHouse cannot open ${path}: ${messageOf(cause)}. If its data is damaged, ${REBUILD}`,
      {
        cause,
      },
    );
  }
}

export interface RunningEngine {
  /**
   * Runs `work` once the engine runs; the engine is not restarted for lost writes until `work` has settled.
   * @throws ClickHouseEnded when the engine ended meanwhile; ClickHouseOverloaded when it cannot be restarted; ClickHouseDamaged
   */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** @throws ClickHouseOverloaded when the engine lost writes: every statement that ended since the last call counts as failed */
  checkWrites(): Promise<void>;
  /** Connects to a database that exists. Call it within `during`. */
  connect(database: string): Promise<Client>;
  /** Runs a short statement on the engine's own connection for such statements. */
  command(sql: string): Promise<void>;
  close(): Promise<void>;
}

export interface RunningEngineOptions {
  readonly path: string;
  readonly logger: Logger | undefined;
  readonly inserts: Settling['inserts'];
  /** Connects the lanes again. */
  readonly onStartedAgain: () => Promise<void>;
  /** How long statements may keep the engine from being restarted for lost writes. */
  readonly drainMs?: number;
}

/** A delete returns once it is recorded, without waiting for the mutation: until then reads filter the deleted rows out. */
const ENGINE_SETTINGS = { ...CONNECTION_SETTINGS, lightweight_deletes_sync: '0', apply_mutations_on_fly: 1 } as const;
const LOST_WRITES = "SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'";
const RUNS_AGAIN = 'the embedded ClickHouse runs again, and the statements that were under way are repeated';
const REOPENED =
  'ClickHouse lost writes, as on a full disk; it was reopened from its intact parts, and the statements under way are repeated';
/** Pause after a failed start, while statements wait. */
const RETRY_MS = 1_000;
/** With the 30 s until a lost write is noticed, well within the 480 s for which the sources of a merge are kept. */
const DRAIN_MS = 240_000;

/** @throws ClickHouseStartFailed, ClickHouseDamaged, PermanentError clickhouse_locked */
export async function openRunningEngine(options: RunningEngineOptions): Promise<RunningEngine> {
  const { path, logger, onStartedAgain, drainMs = DRAIN_MS } = options;
  let running: { readonly engine: EngineProcess; readonly client: Client } | null = null;
  /** Why the engine has to be restarted. */
  let broken: 'lost writes' | 'end' | null = null;
  let mending: Promise<void> | null = null;
  /** True from the first start to close(): the engine is restarted when it ends. */
  let isKept = false;
  const underWay = createUnderWay();

  /** The number of writes lost since the engine was started. */
  const lostWrites = shared(async () => {
    const result = await running?.client.query({ query: LOST_WRITES, format: 'TabSeparated' });
    return Number((await result?.text()) ?? 0);
  });

  async function open(inserts: Settling['inserts']): Promise<void> {
    await removeEmptyFiles(path);
    const engine = await startEngineProcess(path);
    const client = await engine.connect().catch(async (error: unknown) => {
      await engine.kill();
      throw error;
    });
    running = { engine, client };
    void engine.ended.then((how) => {
      if (running?.engine === engine) lose(how);
    });
    try {
      await settleBrokenParts({ client, inserts, logger });
    } catch (error) {
      await end();
      throw error;
    }
  }

  async function end(): Promise<void> {
    const ending = running?.engine;
    running = null;
    await ending?.close();
  }

  function lose(how: string): void {
    running = null;
    if (!isKept) return;
    broken = 'end';
    const code = 'clickhouse_unreachable';
    logger?.error({ code }, `the embedded ClickHouse ended unexpectedly (${how}); starting it again`);
    during(async () => undefined).catch(() => undefined); // the next caller gets the error and retries
  }

  async function mend(): Promise<void> {
    const hasEnded = broken === 'end';
    try {
      // A statement may take longer than the sources of a broken merge are kept: it fails and is repeated.
      const late = setTimeout(() => void running?.engine.kill(), drainMs);
      await underWay.drained();
      clearTimeout(late);
      await end();
      await open(hasEnded ? 'unknown' : 'failed');
      await onStartedAgain();
      if (!running) throw new Error('it ended again');
    } catch (error) {
      if (error instanceof ClickHouseDamaged) throw error;
      await sleep(RETRY_MS);
      throw new ClickHouseOverloaded(`The embedded ClickHouse cannot be started again: ${String(error)}`, error);
    }
    broken = null;
    if (hasEnded) logger?.warn(RUNS_AGAIN);
    else logger?.warn({ code: 'clickhouse_overloaded' }, REOPENED);
  }

  async function during<T>(work: () => Promise<T>): Promise<T> {
    while (broken && isKept) {
      mending ??= mend().finally(() => {
        mending = null;
      });
      await mending;
    }
    return underWay.run(async () => {
      const begunOn = running;
      try {
        return await work();
      } catch (error) {
        if (isConnectionError(error)) await begunOn?.engine.kill(); // the engine does not answer, whatever it is doing
        if (running !== begunOn) throw new ClickHouseEnded(error);
        throw error;
      }
    });
  }

  async function checkWrites(): Promise<void> {
    if (!broken && (await lostWrites()) === 0) return;
    broken ??= 'lost writes';
    throw new ClickHouseOverloaded('ClickHouse could not write its data: is its disk full?', undefined);
  }

  async function close(): Promise<void> {
    isKept = false;
    await mending?.catch(() => undefined); // its callers get the error
    await end();
  }

  await open(options.inserts).catch((cause: unknown) => {
    throw cause instanceof PermanentError ? cause : new ClickHouseStartFailed(path, cause);
  });
  isKept = true;
  if (!running) lose('as soon as it was open');
  return {
    during,
    checkWrites,
    async connect(database) {
      if (!running) throw new Error('the embedded ClickHouse is closed');
      return connectTo(running.engine, database);
    },
    command: async (sql) => void (await running?.client.command({ query: sql })),
    close,
  };
}

async function connectTo(engine: EngineProcess, database: string): Promise<Client> {
  const client = await engine.connect();
  await client.command({ query: `USE ${database}` });
  // Once for the connection: with each statement, settings would cost more than a short statement, and they persist anyway.
  await client.command({ query: `SET ${settingsList(ENGINE_SETTINGS)}` });
  return client;
}

/** Counts the calls in progress. */
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
    /** Resolves when none is in progress; for one caller at a time. */
    drained: (): Promise<void> =>
      new Promise((resolve) => {
        idle = resolve;
        if (running === 0) resolve();
      }),
  };
}

/**
 * On a full disk a delete or a new table leaves an empty file, with which its table or database does not load. The statement was never
 * acknowledged, so its caller repeats it.
 */
async function removeEmptyFiles(path: string): Promise<void> {
  for await (const name of glob(['store/*/*/mutation_*.txt', 'store/*/*/*.sql', 'metadata/*.sql'], { cwd: path })) {
    const file = join(path, name);
    if ((await stat(file)).size === 0) await rm(file);
  }
}
