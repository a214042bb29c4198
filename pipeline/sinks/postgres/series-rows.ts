/** Rows of a series: every row is appended, and the last row of each key is also kept in a separate table. */
import type { PoolClient } from 'pg';
import { type CopyValue, copyRows } from '../../../infra/postgres/copy.ts';
import type { FactColumn } from '../../../infra/postgres/fact-columns.ts';
import type { FactsByType, PlacedFact } from '../facts-by-type.ts';
import { listOf, listParam } from './list-param.ts';
import { fieldsOf, rawValues, type SeriesTable } from './table.ts';

const namesOf = (columns: readonly FactColumn[]): string[] => columns.map(({ name }) => name);

export async function appendSeries(
  client: PoolClient,
  table: SeriesTable,
  chain: string,
  facts: FactsByType,
): Promise<void> {
  const { key, columns, rows, newest } = table;
  const changes = lastOfBlocks(table, facts);
  if (changes.all.length === 0) return;
  const stored = [...key, ...columns];
  await copyRows(
    client,
    rows,
    ['chain', ...namesOf(stored), 'from_height', 'position'],
    copied(stored, chain, changes.all),
  );
  const lists = stored.map(({ field }) =>
    listParam(changes.newest, ({ fact }) => fieldsOf(fact)[field] as string | number | bigint),
  );
  const unnested = stored.map(({ type }, index) => `${listOf(`$${index + 2}`)}::${type}[]`);
  await client.query(
    `INSERT INTO ${newest} (chain, ${namesOf(stored)}) SELECT $1, last.* FROM unnest(${unnested}) AS last
     ON CONFLICT (chain, ${namesOf(key)}) DO UPDATE SET ${columns.map(({ name }) => `${name} = excluded.${name}`)}`,
    [chain, ...lists],
  );
}

/** SQL that deletes rows that began above height $2 of chain $1 and restores the newest row of each key. */
export function rewindSeries({ key, columns, rows, newest }: SeriesTable): string {
  const keys = namesOf(key);
  const same = (one: string, other: string) => keys.map((name) => `${one}.${name} = ${other}.${name}`).join(' AND ');
  const values = namesOf(columns);
  const [first = ''] = values;
  return `WITH removed AS (DELETE FROM ${rows} WHERE chain = $1 AND from_height > $2 RETURNING ${keys}),
    changed AS (SELECT DISTINCT ${keys} FROM removed),
    stands AS MATERIALIZED (SELECT changed.*, ${values.map((name) => `before.${name}`)} FROM changed LEFT JOIN LATERAL (
      SELECT ${values} FROM ${rows} v WHERE v.chain = $1 AND ${same('v', 'changed')} AND v.from_height <= $2
      ORDER BY v.chain DESC, ${keys.map((name) => `v.${name} DESC`)}, v.from_height DESC LIMIT 1) AS before ON true),
    gone AS (DELETE FROM ${newest} n USING stands WHERE n.chain = $1 AND ${same('n', 'stands')} AND stands.${first} IS NULL)
    UPDATE ${newest} n SET ${values.map((name) => `${name} = stands.${name}`)} FROM stands
    WHERE n.chain = $1 AND ${same('n', 'stands')} AND stands.${first} IS NOT NULL`;
}

/** Keeps one row for each key and block: the last. */
function lastOfBlocks(table: SeriesTable, facts: FactsByType): { all: PlacedFact[]; newest: PlacedFact[] } {
  const places = new Map<string, number>();
  const all: PlacedFact[] = [];
  for (const placed of facts.of(table.fact)) {
    const id = rawValues(table.key, placed.fact).join(':');
    const place = places.get(id);
    if (place !== undefined && all[place]?.at.height === placed.at.height) all[place] = placed;
    else places.set(id, all.push(placed) - 1);
  }
  return { all, newest: [...places.values()].flatMap((place) => all[place] ?? []) };
}

function* copied(
  columns: readonly FactColumn[],
  chain: string,
  placed: readonly PlacedFact[],
): Iterable<readonly CopyValue[]> {
  for (const { fact, at } of placed) {
    const fields = fieldsOf(fact);
    const row: CopyValue[] = [chain];
    for (const column of columns) row.push(column.of(fields));
    row.push(at.height, at.position);
    yield row;
  }
}
