/** Anyone may define baskets, and a reserve of one satoshi makes a price absurd: that must not stop the stage for everyone. */
import { expect, it } from 'vitest';
import type { CurrencyStateFact, Fact } from '../../schemas/facts.ts';
import type { FedBlock } from '../../test/support/pipeline/price/facts-feed.ts';
import { createPriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { recordedDerivation } from '../../test/support/pipeline/price/recorded-derivation.ts';
import { recordedPriceChain } from '../../test/support/pipeline/price/recorded-price-chain.ts';

const COIN = 10n ** 8n;
/** The protocol's largest supply of a token. */
const MOST = 10n ** 10n * COIN;
const HALF = COIN / 2n;

/** A live basket with a supply of one coin and two reserves of equal weight. */
function basket(currencyId: string, vout: number, held: Readonly<Record<string, bigint>>): CurrencyStateFact {
  const reserves = Object.entries(held).map(([id, amount]) => {
    return { currencyId: id, weight: HALF, reserves: amount, priceInReserve: 2n * amount };
  });
  const place = { txid: '0'.repeat(64), vout, txIndex: 0, liveHeight: 0 };
  return { type: 'currency_state', currencyId, ...place, flags: 49, supply: COIN, reserves, state: '{}' };
}

const STATES = [
  basket('iFAIR', 0, { iUSD: 2000n * COIN, iCOIN: 1000n * COIN }),
  basket('iFIRST', 1, { iUSD: 2000n * COIN, iA: 1n }),
  basket('iSECOND', 2, { iA: MOST, iB: 1n }),
  basket('iTHIRD', 3, { iB: MOST, iC: 1n }),
];

it.each(['live', 'backfill'])(
  'leaves out prices that no column can contain, and keeps all others: %s',
  async (regime) => {
    const chain = recordedPriceChain({ minBasketAge: 0, stableAnchors: ['iUSD'] });
    const cutover = regime === 'live' ? 0 : 2 ** 31;
    const world = await createPriceWorld({ chains: [chain], cutover, minBasketDepthUsd: 1000 });
    try {
      const blocks = recordedDerivation().slice(0, 2);
      const fed = blocks.map(({ height, hash, facts }): FedBlock => {
        const own: Fact[] = facts.filter(({ type }) => type === 'block');
        return { height, hash, facts: height === 1 ? [...own, ...STATES] : own };
      });
      await world.feeds[0]?.append(fed);
      await world.run();
      const { rows } = await world.stores.postgres.pool.query<{ id: string; usd: string }>(
        'SELECT currency_id AS id, trim_scale(usd_price)::text AS usd FROM prices ORDER BY currency_id',
      );
      expect(Object.fromEntries(rows.map(({ id, usd }) => [id, usd]))).toEqual({
        iA: '200000000000',
        iCOIN: '2',
        iFAIR: '4000',
        iFIRST: '4000',
      });
    } finally {
      await world.close();
    }
  },
);
