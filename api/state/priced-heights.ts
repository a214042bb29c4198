/** Up to which block of each chain its facts and its prices are of the same branch. */
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Where prices stand on a branch that derive has left: the newest complete tick that is still a block of the chain, or, beyond the line, the
 * newest block that all rewinds since have kept. The hash is looked up by a subquery, so that the search begins at the newest tick that may
 * be a block: a join would read all of them.
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

/** By chain, provisional prices included; without chains of which nothing is priced. */
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

/** Height to which prices of the chain's blocks have come, provisional ones too; -1 before the first. */
export async function pricedHeight(read: Snapshot, chain: string): Promise<number> {
  return (await pricedHeights(read, [chain])).get(chain) ?? -1;
}
