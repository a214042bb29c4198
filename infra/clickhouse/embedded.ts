/** The ClickHouse engine (chdb) in a process that this one starts: the default, one a data folder. */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Logger } from '../logger.ts';
import { type ClickHouse, createClickHouse } from './clickhouse.ts';
import { openEngine } from './engine.ts';

/** One engine connection runs one statement at a time; this many run in parallel. */
const CONNECTIONS = 8;

/** Opens (and creates) the folder; `database` is created when missing. @throws ClickHouseStartFailed, ClickHouseDamaged */
export async function openEmbeddedClickHouse(
  folder: string,
  database = 'verustream',
  logger?: Logger,
): Promise<ClickHouse> {
  await mkdir(folder, { recursive: true });
  const engine = await openEngine(resolve(folder), logger);
  const lanes = await engine.connect(database, CONNECTIONS);
  return createClickHouse({
    lanes,
    run: engine.run,
    kill: engine.kill,
    isOwn: true,
    close: () => engine.release(lanes),
  });
}
