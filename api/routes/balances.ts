/** What addresses hold: /api/address/:addr/balance and /api/richlist/top */
import { addressBalance, richList } from '../../schemas/rest/explorer.ts';
import { chainParameter, queryParameter } from '../http/parameters.ts';
import { stateRoute } from '../http/route.ts';
import { coins, ratio, usdValueOf } from '../http/values.ts';
import { isIdentityAddress, resolveAddress } from '../state/addresses.ts';
import { issuedSupply } from '../state/supply.ts';
import { addressParameter } from './addresses.ts';
import { holdingsOf } from './balance-rows.ts';
import { tipHeight } from './blocks.ts';
import { latestPrices } from './price-rows.ts';

const balance = stateRoute({
  path: '/api/address/:addr/balance',
  summary: 'What an address holds of every currency',
  parameters: { addr: addressParameter, chain: chainParameter },
  response: addressBalance,
  weight: 5,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    const height = tipHeight(read, chain);
    const address = resolveAddress(api, api.chain(chain), params.addr);
    const held = await holdingsOf(read, api, api.chain(chain), [address]);
    const native = held.find((holding) => holding.currencyId === api.currencies.nativeId(api.chain(chain)));
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

interface HolderRecord {
  readonly address: string;
  readonly balance: bigint;
  readonly name: string | null;
}

const HOLDERS_SQL = `SELECT b.address, b.balance, i.fully_qualified_name AS name FROM balances b
  LEFT JOIN identities i ON i.chain = b.chain AND i.identity_address = b.address AND i.to_height IS NULL
  WHERE b.chain = $1 AND b.currency_id = $2 AND b.to_height IS NULL AND b.balance > 0
  ORDER BY b.balance DESC, b.address LIMIT $3`;
const MAX_HOLDERS = 500;
/** Addresses of the protocol that may stand among the holders. */
const SYSTEM_MARGIN = 50;

const richest = stateRoute({
  path: '/api/richlist/top',
  summary: 'Largest holders of the native coin',
  parameters: {
    chain: chainParameter,
    limit: queryParameter('Rows, at most 500', { type: 'integer', minimum: 1, maximum: MAX_HOLDERS, default: 100 }),
  },
  response: richList,
  weight: 2,
  tier: null,
  cache: 'prepared',
  scope: 'chain',
  async handler({ params, read, api }) {
    const chain = api.chain(params.chain);
    const height = tipHeight(read, chain.name);
    const nativeId = api.currencies.nativeId(chain);
    const rows = await read.rows<HolderRecord>(HOLDERS_SQL, [chain.name, nativeId, params.limit + SYSTEM_MARGIN]);
    const holders = rows.filter((row) => !api.domain.isSystemAddress(row.address)).slice(0, params.limit);
    const [price] = await latestPrices(read, api, [nativeId]);
    const issued = await issuedSupply(read, api, chain.name, height);
    return async () => {
      const supply = await issued();
      const percent = (part: bigint) => (supply !== null && supply > 0n ? ratio(part * 100n, supply) : null);
      const results = holders.map((row, index) => ({
        rank: index + 1,
        address: row.address,
        name: row.name,
        type: isIdentityAddress(row.address) ? 'identity' : 'address',
        balance: coins(row.balance),
        percent: percent(row.balance),
        usdValue: usdValueOf(row.balance, price?.usd_price ?? null),
      }));
      return { chain: chain.name, height, results };
    };
  },
});

export const balanceRoutes = [balance, richest];
