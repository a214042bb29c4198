/** The ClickHouse engine inside this process (chdb): the default, one process per data folder. */
import { glob, mkdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createClient } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import { PermanentError } from '../../schemas/errors.ts';
import { type ClickHouse, type Client, createClickHouse } from './clickhouse.ts';

/** One engine connection runs one statement at a time; this many run in parallel. */
const CONNECTIONS = 4;

export class ClickHouseStartFailed extends PermanentError {
  constructor(path: string, cause: unknown) {
    super(
      'clickhouse_start_failed',
      `The embedded ClickHouse cannot open ${path}; its own words stand above. The log holds everything: remove the ` +
        'folders clickhouse and postgres of DATA_DIR, and both are built again from it.',
      { cause },
    );
  }
}

/** Opens (and creates) the folder; `database` is created when missing. @throws ClickHouseStartFailed */
export async function openEmbeddedClickHouse(folder: string, database = 'verustream'): Promise<ClickHouse> {
  await mkdir(folder, { recursive: true });
  const path = resolve(folder);
  await removeEmptyMutations(path);
  const clients: Client[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const client = connect(path);
    if (i === 0) await client.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
    await client.command({ query: `USE ${database}` });
    clients.push(client);
  }
  return createClickHouse(clients, forgetFailed);
}

/** A failed insert counts as running until its connection is used again, and who waits for inserts would wait for ever. */
async function forgetFailed(client: Client): Promise<void> {
  await client.command({ query: 'SELECT 1' });
}

function connect(path: string): Client {
  try {
    return createClient({ connection: createChdbConnection({ path }) } as unknown as Parameters<
      typeof createClient
    >[0]);
  } catch (cause) {
    throw new ClickHouseStartFailed(path, cause);
  }
}

/**
 * A delete on a full disk leaves an empty file that keeps its table from loading. It was never acknowledged; whoever asked
 * for it asks again.
 */
async function removeEmptyMutations(path: string): Promise<void> {
  for await (const name of glob('store/*/*/mutation_*.txt', { cwd: path })) {
    const file = join(path, name);
    if ((await stat(file)).size === 0) await rm(file);
  }
}
