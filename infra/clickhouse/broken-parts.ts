/** Handles parts that the engine set aside when it opened its folder because their files are incomplete. */
import { rm } from 'node:fs/promises';
import type { Logger } from '../logger.ts';
import { ClickHouseDamaged } from './clickhouse-errors.ts';
import type { Client } from './client.ts';

export interface Settling {
  readonly client: Client;
  /**
   * Outcome of the insert that wrote a broken part: 'failed' if the caller got an error, 'acknowledged' if the part was intact when the
   * insert succeeded, 'unknown' after a kill.
   */
  readonly inserts: 'failed' | 'acknowledged' | 'unknown';
  readonly logger: Logger | undefined;
}

interface BrokenPart {
  readonly table: string;
  readonly name: string;
  readonly path: string;
  readonly replaced: 0 | 1;
}

/** `replaced`: active parts contain the first and last insert of the broken part, as its sources or parts merged from them. */
const BROKEN_PARTS = `
  SELECT concat(b.database, '.', b.table) AS table, b.name AS name, any(b.path) AS path,
    countIf(p.low <= b.min_block_number AND p.high >= b.min_block_number) > 0
      AND countIf(p.low <= b.max_block_number AND p.high >= b.max_block_number) > 0 AS replaced
  FROM system.detached_parts AS b
  LEFT JOIN (
    SELECT database, table, partition_id, min_block_number AS low, max_block_number AS high FROM system.parts WHERE active
  ) AS p ON p.database = b.database AND p.table = b.table AND p.partition_id = b.partition_id
  WHERE startsWith(b.name, 'broken')
  GROUP BY b.database, b.table, b.name, b.min_block_number, b.max_block_number
  ORDER BY table, name
  SETTINGS join_use_nulls = 1`;

/** Removes broken parts whose rows exist elsewhere. @throws ClickHouseDamaged if acknowledged rows are lost */
export async function settleBrokenParts({ client, inserts, logger }: Settling): Promise<void> {
  const answer = await client.query({ query: BROKEN_PARTS, format: 'JSONEachRow' });
  const broken = await answer.json<BrokenPart>();
  const lost = broken.filter(({ name, replaced }) => !replaced && (inserts === 'acknowledged' || !isInsert(name)));
  if (lost.length > 0) throw new ClickHouseDamaged(`ClickHouse has lost rows: ${list(lost)}`, undefined);
  const unknown = inserts === 'unknown' ? broken.filter(({ replaced }) => !replaced) : [];
  if (unknown.length > 0) {
    logger?.warn(
      { code: 'clickhouse_overloaded' },
      `ClickHouse ended before it had written all of an insert, which is repeated unless it was committed: ${list(unknown)}. ` +
        '`verustream audit` shows whether anything is missing.',
    );
  }
  for (const { path } of broken) await rm(path, { recursive: true });
}

/** Whether a part is one insert that was never merged; names are partition_first_last_level. */
function isInsert(name: string): boolean {
  const [, first, last] = /_(\d+)_(\d+)_0$/.exec(name) ?? [];
  return first !== undefined && first === last;
}

function list(parts: readonly BrokenPart[]): string {
  return parts.map(({ table, name }) => `${table} ${name}`).join(', ');
}
