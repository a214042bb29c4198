/** For each chain the newest block up to which facts and prices belong to the same branch. */
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * When prices are on a branch that derive has left, this is the newest complete tick whose block is still on the chain or, beyond the line, the
 * newest block that survived all rewinds since. The hash is looked up in a subquery, so that the search begins at the newest possible tick:
 * a join would read all ticks.
 */
const HEIGHTS_SQL = `SELECT at.chain, CASE WHEN block.hash = at.hash THEN at.height ELSE greatest((
      SELECT tick.height FROM price_ticks tick
      WHERE tick.chain = at.chain AND tick.height <= at.derived
        AND tick.hash = (SELECT kept.hash FROM blocks kept WHERE kept.chain = tick.chain AND kept.height = tick.height)
      ORDER BY tick.height DESC LIMIT 1
    ), (
      SELECT least(min(rewind.height), at.height, at.derived) FROM reorgs rewind
      WHERE rewind.chain = at.chain AND rewind.position >= (
        SELECT max(gone.removed_at) FROM removed_blocks gone WHERE gone.chain = at.chain AND gone.hash = at.hash)
      HAVING min(rewind.height) IS NOT NULL
    )) END AS height
  FROM (SELECT unnest($1::text[]) AS chain, unnest($2::integer[]) AS height, decode(unnest($3::text[]), 'hex') AS hash,
      unnest($4::integer[]) AS derived) AS at
  LEFT JOIN blocks block ON block.chain = at.chain AND block.height = at.height`;

const readHeight = rowReader({ chain: columns.text, height: columns.nullable(columns.number) });

/** Returns heights by chain, including provisional prices; chains without prices are missing. */
export async function pricedHeights(read: Snapshot, chains: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { derived, priced, pricedAhead } = read.state;
  const places = chains.flatMap((chain) => {
    const place = pricedAhead.get(chain) ?? priced.get(chain);
    return place ? [{ chain, ...place }] : [];
  });
  if (places.length === 0) return new Map();
  const values = [
    places.map(({ chain }) => chain),
    places.map(({ height }) => height),
    places.map(({ hash }) => hash),
    places.map(({ chain }) => derived.get(chain)?.height ?? -1),
  ];
  const rows = await read.rows(readHeight, HEIGHTS_SQL, values);
  return new Map(rows.flatMap(({ chain, height }) => (height === null ? [] : [[chain, height] as const])));
}

/** Returns the height up to which the chain is priced, including provisional prices; -1 before the first price. */
export async function pricedHeight(read: Snapshot, chain: string): Promise<number> {
  return (await pricedHeights(read, [chain])).get(chain) ?? -1;
}
