/** Up to which block of each chain its facts and its prices are of the same branch. */
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Where `price` stands on a branch that derive has left: the newest of its ticks that is still a block of the chain. The hash is looked
 * up by a subquery, so that the search begins at the newest tick: a join would read all of them.
 */
const HEIGHTS_SQL = `SELECT at.chain, CASE WHEN block.hash = at.hash THEN at.height ELSE (
      SELECT tick.height FROM price_ticks tick
      WHERE tick.chain = at.chain
        AND tick.hash = (SELECT kept.hash FROM blocks kept WHERE kept.chain = tick.chain AND kept.height = tick.height)
      ORDER BY tick.height DESC LIMIT 1
    ) END AS height
  FROM (SELECT unnest($1::text[]) AS chain, unnest($2::integer[]) AS height, decode(unnest($3::text[]), 'hex') AS hash) AS at
  LEFT JOIN blocks block ON block.chain = at.chain AND block.height = at.height`;

const readHeight = rowReader({ chain: columns.text, height: columns.nullable(columns.number) });

/** By chain, provisional prices included; without chains of which nothing is priced. */
export async function pricedHeights(read: Snapshot, chains: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { priced, pricedAhead } = read.state;
  const places = chains.flatMap((chain) => {
    const place = pricedAhead.get(chain) ?? priced.get(chain);
    return place ? [{ chain, ...place }] : [];
  });
  if (places.length === 0) return new Map();
  const values = [places.map(({ chain }) => chain), places.map(({ height }) => height), places.map(({ hash }) => hash)];
  const rows = await read.rows(readHeight, HEIGHTS_SQL, values);
  return new Map(rows.flatMap(({ chain, height }) => (height === null ? [] : [[chain, height] as const])));
}

/** Height to which prices of the chain's blocks have come, provisional ones too; -1 before the first. */
export async function pricedHeight(read: Snapshot, chain: string): Promise<number> {
  return (await pricedHeights(read, [chain])).get(chain) ?? -1;
}
