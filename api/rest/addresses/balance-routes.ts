/** Balances of addresses: /api/address/:addr/balance and /api/richlist/top */

import { isIdentityAddress } from '../../../domain/addresses.ts';
import { SYSTEM_ADDRESSES } from '../../../domain/system-addresses.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { chainParameter, formatParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, ratio, usdValueOf } from '../../http/values.ts';
import { addressParameter, resolveAddress } from '../../state/addresses.ts';
import { atHeightParameter, placeAt } from '../../state/block-at.ts';
import { issuedSupply, withSupply } from '../../state/supply.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { latestPrices } from '../prices/price-rows.ts';
import { addressBalance, richList } from '../search/explorer-schema.ts';
import { holdingsOf, newestPricesOf, pricesOfBlock } from './balance-rows.ts';

const balance = stateRoute({
  path: '/api/address/:addr/balance',
  summary: 'Balance of an address in every currency, now or at the end of a block, valued at the prices of that time',
  parameters: { addr: addressParameter, chain: chainParameter, height: atHeightParameter, ...formatParameter },
  response: addressBalance,
  rows: { member: 'balances' },
  weight: 5,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    const { height, clock } = await placeAt(read, chain, params.height);
    const address = resolveAddress(api.chain(chain), params.addr);
    const isNow = params.height === undefined;
    const pricesOf = isNow ? newestPricesOf(read, api) : await pricesOfBlock(read, api, { chain, height, clock });
    const held = await holdingsOf(read, api, api.chain(chain), [address], { height, pricesOf });
    const [native] = held;
    return {
      address,
      chain,
      balances: held.map(({ currencyId, currencyName, balance, usdValue }) => ({
        currencyId,
        currencyName,
        balance: coins(balance),
        usdValue,
      })),
      native: coins(native?.balance ?? 0n),
      received: coins(native?.received ?? 0n),
      height,
    };
  },
});

const readHolder = rowReader({
  address: columns.text,
  balance: columns.bigint,
  name: columns.nullable(columns.text),
});

/**
 * An output with several addresses counts for the first of them here, but `newest_balances` counts it for each. So `shared` is
 * subtracted, and the scan reads extra rows: one for each address that may drop in rank by that, and for each key of the protocol.
 */
const HOLDERS_SQL = `WITH shared AS MATERIALIZED (
    SELECT other.address, sum(o.value) AS value FROM outputs o
    CROSS JOIN LATERAL (SELECT address FROM unnest(o.addresses) WITH ORDINALITY AS paid(address, place)
      WHERE address <> ALL($4) ORDER BY place OFFSET 1) AS other
    WHERE o.chain = $1 AND o.from_height > 0 AND o.to_height IS NULL AND o.value > 0 AND cardinality(o.addresses) > 1
      AND (o.kind <> 'stakeguard' OR cardinality(o.addresses) > 2)
    GROUP BY other.address)
  SELECT b.address, (b.balance - coalesce(s.value, 0))::bigint AS balance, i.fully_qualified_name AS name
  FROM (SELECT address, balance FROM newest_balances
    WHERE chain = $1 AND currency_id = $2 AND magnitude > 0
    ORDER BY magnitude DESC, balance DESC, address LIMIT $3 + (SELECT count(*) FROM shared) + cardinality($4)) AS b
  LEFT JOIN shared s ON s.address = b.address
  LEFT JOIN identities i ON i.chain = $1 AND i.identity_address = b.address AND i.to_height IS NULL
  WHERE b.address <> ALL($4) AND b.balance > coalesce(s.value, 0)
  ORDER BY 2 DESC, 1 LIMIT $3`;
const MAX_HOLDERS = 500;

const richest = stateRoute({
  path: '/api/richlist/top',
  summary: 'Largest holders of the native coin; an output with several addresses counts for the first of them',
  parameters: {
    chain: chainParameter,
    limit: queryParameter('Rows; more than 500 is served as 500', { type: 'integer', minimum: 1, default: 100 }),
    ...formatParameter,
  },
  response: richList,
  rows: { member: 'results' },
  weight: 2,
  cache: 'prepared',
  scope: 'chain',
  async handler({ params, read, api }) {
    const chain = api.chain(params.chain);
    const height = tipHeight(read, chain.name);
    const nativeId = api.currencies.nativeId(chain);
    const limit = Math.min(params.limit, MAX_HOLDERS);
    // Memoized once for every limit: while the daemon is away (no supply) no answer is cached, and the query is expensive.
    const values = [chain.name, nativeId, MAX_HOLDERS + 1, [...SYSTEM_ADDRESSES]];
    const found = await api.memo.get(`richest of ${chain.name}`, read.state.factsTag(chain.name), () =>
      read.rows(readHolder, HOLDERS_SQL, values),
    );
    const holders = found.slice(0, limit);
    const [price] = await latestPrices(read, api, [nativeId]);
    const issued = await issuedSupply(read, api, chain.name, height);
    return () =>
      withSupply(issued, (supply) => {
        const percent = (part: bigint) => (supply !== null && supply > 0n ? ratio(part * 100n, supply) : null);
        const results = holders.map((row, index) => ({
          rank: index + 1,
          address: row.address,
          name: row.name,
          type: isIdentityAddress(row.address) ? ('identity' as const) : ('address' as const),
          balance: coins(row.balance),
          percent: percent(row.balance),
          usdValue: usdValueOf(row.balance, price?.usd_price ?? null),
        }));
        return { chain: chain.name, height, results, more: found.length > limit };
      });
  },
});

export const balanceRoutes = [balance, richest];
