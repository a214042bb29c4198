/** Compares the stamps topic with the stored stamps. */
import { expect } from 'vitest';
import type { PriceChain } from '../../../../pipeline/price/price-chain.ts';
import type { PriceWorld } from './price-world.ts';
import { readThrough, stampsTopic } from './published-topic.ts';

/** The topic must have a valid record of every block of each chain, and the published live stamps must equal the stored ones. */
export async function checkPublished(
  { log, stores }: PriceWorld,
  chains: readonly PriceChain[],
  standing: readonly (readonly { readonly hash: string }[])[],
): Promise<void> {
  for (const [index, { name }] of chains.entries()) {
    const publishedBlocks = readThrough(await stampsTopic(log, name));
    expect(publishedBlocks.map(({ hash }) => hash)).toEqual(standing[index]?.map(({ hash }) => hash));
    const { rows } = await stores.postgres.pool.query<{ key: string; value: string | null }>(
      `SELECT encode(txid, 'hex') || ' ' || vout AS key, trim_scale(usd_value)::text AS value FROM stamps
       WHERE generation = 1 AND chain = $1 AND regime = 'live'`,
      [name],
    );
    const values = publishedBlocks.flatMap(({ stamps }) =>
      stamps
        .filter(({ regime }) => regime === 'live')
        .map(({ txid, vout, usdValue }) => [`${txid} ${vout}`, usdValue] as const),
    );
    expect(Object.fromEntries(values)).toEqual(Object.fromEntries(rows.map(({ key, value }) => [key, value])));
    expect(values.length).toBe(rows.length);
  }
}
