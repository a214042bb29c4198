/** Reports the running statements of this process's stores, for tests that hang. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Stores } from '../../../infra/stores.ts';
import { engineProcesses } from './clickhouse/engine-processes.ts';

/** Stores of the tests that are running. */
export const openStores = new Set<Pick<Stores, 'postgres' | 'clickhouse'>>();

const LATE_MS = 60_000;
const ANSWER_MS = 5_000;
const STACKS_MS = 120_000;
/** For a query that waits for a lock, `blocked_by` names the holders. */
const POSTGRES_SQL = `SELECT pid, state, wait_event_type || ': ' || wait_event AS waits_for, pg_blocking_pids(pid) AS blocked_by,
    round(extract(epoch FROM now() - query_start)) AS seconds, left(query, 300) AS query
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY query_start`;
const STAGES_SQL = 'SELECT stage, chain, status, updated_at FROM stage_status';
const CLICKHOUSE_SQL = [
  'SELECT query_id, query_kind, round(elapsed) AS seconds, substring(query, 1, 300) AS query FROM system.processes',
  'SELECT database, table, mutation_id, parts_to_do, latest_fail_reason, command FROM system.mutations WHERE NOT is_done',
  'SELECT database, table, is_mutation, round(elapsed) AS seconds, result_part_name FROM system.merges',
];

export async function whatIsUnderWay(): Promise<string> {
  const statements = [...openStores].map(async ({ postgres, clickhouse }) => ({
    postgres: await answerOf(async () => (await postgres.pool.query(POSTGRES_SQL)).rows),
    stages: await answerOf(async () => (await postgres.pool.query(STAGES_SQL)).rows),
    clickhouse: await answerOf(() => Promise.all(CLICKHOUSE_SQL.map((sql) => clickhouse.query(sql)))),
  }));
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const report = { stores: await Promise.all(statements), resources, engine: await answerOf(engineStacks, STACKS_MS) };
  return JSON.stringify(report, null, 2);
}

/** Stacks of the threads that run ClickHouse statements, if gdb is installed: a statement may hang that the engine does not list. */
async function engineStacks(): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-stacks-'));
  const file = join(folder, 'stacks');
  try {
    for (const pid of engineProcesses(process.pid)) {
      const command = `gdb -p ${pid} -batch -ex 'thread apply all backtrace 40' >> '${file}' 2> /dev/null`;
      await promisify(execFile)('sh', ['-c', command]);
    }
    const threads = (await readFile(file, 'utf8')).split(/\n(?=Thread )/);
    return threads
      .filter((text) => text.includes('libuv-worker') && text.includes('chdb'))
      .map((text) => text.split('\n'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Settles like `work`; prints the running statements if it takes too long. */
export async function whatKeeps<T>(name: string, work: Promise<T>): Promise<T> {
  const late = setTimeout(() => {
    void whatIsUnderWay().then((text) => console.error(`${name}: not stopped after ${LATE_MS / 1000} s\n${text}`));
  }, LATE_MS);
  try {
    return await work;
  } finally {
    clearTimeout(late);
  }
}

/** Resolves also when no answer arrives in time, with a text that reports this. */
async function answerOf(ask: () => Promise<unknown>, withinMs = ANSWER_MS): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, withinMs, `no answer within ${withinMs / 1000} s`);
  });
  try {
    return await Promise.race([ask().catch(String), silence]);
  } finally {
    clearTimeout(timer);
  }
}
