/** The default ClickHouse: the chdb engine in a child process, one process for each data folder. */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Logger } from '../logger.ts';
import { type ClickHouse, createClickHouse } from './clickhouse.ts';
import { openEngine } from './engine.ts';

/** Statements that run in parallel: each connection runs one at a time. */
const CONNECTIONS = 8;

/** Opens the folder; creates the folder and `database` if missing. @throws ClickHouseStartFailed, ClickHouseDamaged */
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
