/** /api/currency/:nameOrId/supply and …/state: a currency as of a block. */
import { isLiveBasket } from '../../../domain/basket-liveness.ts';
import { parseReserves } from '../../../domain/reserves.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError } from '../../http/api-error.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { atHeightParameter, type BlockPlace, blockAt } from '../../state/block-at.ts';
import type { CurrencyEntry } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { issuedSupply, supplyAt } from '../../state/supply.ts';
import { currencyStateAt, currencySupply } from './at-height-schema.ts';
import { findCurrency } from './routes.ts';

export const atHeightParameters = {
  nameOrId: pathParameter('i-address, qualified name, or name', writtenName),
  chain: chainParameter,
  height: atHeightParameter,
};

const STATE = storedColumns(DEFINITIONS.currency_state, ['txid', 'vout', 'flags', 'supply', 'reserves']);
const readState = rowReader({ ...STATE, from_height: columns.number });
const STATE_SQL = `SELECT from_height, ${Object.keys(STATE).join(', ')} FROM currency_states
  WHERE chain = $1 AND currency_id = $2 AND from_height <= $3 ORDER BY from_height DESC, tx_index DESC, vout DESC LIMIT 1`;

interface CurrencyRequest {
  readonly params: { readonly nameOrId: string; readonly chain: string; readonly height?: number | undefined };
  readonly read: Snapshot;
  readonly api: ApiContext;
}

export interface CurrencyAt {
  readonly entry: CurrencyEntry;
  readonly block: BlockPlace;
  readonly isNewest: boolean;
}

/** The currency, and the block of its own chain; `parameter` is where the currency was written. @throws ApiError not_found, invalid_parameter */
export async function currencyAt({ params, read, api }: CurrencyRequest, parameter = 'nameOrId'): Promise<CurrencyAt> {
  const currencies = await api.currencies.of(read);
  const entry = findCurrency(currencies, api, params.chain, params.nameOrId, parameter);
  const block = await blockAt(read, entry.chain, params.height);
  return { entry, block, isNewest: block.height === read.state.derived.get(entry.chain)?.height };
}

export function placeAnswer({ entry, block }: CurrencyAt) {
  return {
    currencyId: entry.currencyId,
    currencyName: entry.fullyQualifiedName,
    chain: entry.chain,
    height: block.height,
    time: Number(block.time),
  };
}

function stateAt(read: Snapshot, { entry, block }: CurrencyAt): Promise<RowRead<typeof readState> | undefined> {
  return read.row(readState, STATE_SQL, [entry.chain, entry.currencyId, block.height]);
}

export interface SupplyThen {
  /** Satoshis, when the snapshot is closed; null where it is not known. */
  readonly supply: () => Promise<bigint | null>;
  readonly stateHeight: number | null;
}

/** A daemon knows what the index lacks, of its newest block alone. */
export async function supplyThen(read: Snapshot, api: ApiContext, at: CurrencyAt): Promise<SupplyThen> {
  const { chain, type } = at.entry;
  if (type !== 'native') {
    const state = await stateAt(read, at);
    return { supply: async () => state?.supply ?? null, stateHeight: state?.from_height ?? null };
  }
  const { height } = at.block;
  if (at.isNewest) return { supply: await issuedSupply(read, api, chain, height), stateHeight: null };
  const found = await supplyAt(read, api, chain, height);
  return { supply: async () => found && found.transparent + found.shielded, stateHeight: null };
}

const supply = stateRoute({
  path: '/api/currency/:nameOrId/supply',
  summary: 'How much of a currency there is, or was at the end of a block',
  parameters: atHeightParameters,
  response: currencySupply,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'all',
  async handler(call) {
    const at = await currencyAt(call);
    const then = await supplyThen(call.read, call.api, at);
    return async () => ({
      ...placeAnswer(at),
      supply: coinsOrNull(await then.supply()),
      stateHeight: then.stateHeight,
    });
  },
});

const state = stateRoute({
  path: '/api/currency/:nameOrId/state',
  summary: 'The state of a currency, of a basket with its reserves: the newest, or as of the end of a block',
  parameters: atHeightParameters,
  response: currencyStateAt,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'all',
  async handler(call) {
    const at = await currencyAt(call);
    const currencies = await call.api.currencies.of(call.read);
    const row = await stateAt(call.read, at);
    if (!row) {
      const { entry, block } = at;
      throw new ApiError(
        'not_found',
        `${entry.fullyQualifiedName} has no state up to block ${block.height} of ${entry.chain}`,
      );
    }
    return {
      ...placeAnswer(at),
      stateHeight: row.from_height,
      txid: row.txid,
      vout: row.vout,
      flags: row.flags,
      live: isLiveBasket(row.flags) && row.supply > 0n,
      supply: coins(row.supply),
      reserves: parseReserves(row.reserves).map(({ currencyId, weight, reserves, priceInReserve }) => ({
        currencyId,
        currencyName: currencies.name(currencyId),
        weight: coins(weight),
        reserve: coins(reserves),
        priceInReserve: coins(priceInReserve),
      })),
    };
  },
});

export const currencyAtHeightRoutes = [supply, state];
