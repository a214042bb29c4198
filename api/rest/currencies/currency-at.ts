/** A currency as of a block: its newest state up to that block, and its supply. */
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { atHeightParameter, type BlockPlace, blockAt } from '../../state/block-at.ts';
import type { CurrencyEntry } from '../../state/currency-directory.ts';
import { findCurrency } from '../../state/find-currency.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type Issued, issuedSupply, supplyAt } from '../../state/supply.ts';

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

/**
 * Resolves the currency and the block of the currency's own chain. `parameter` is the one that errors point to.
 * @throws ApiError not_found, invalid_parameter
 */
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

export function stateAt(read: Snapshot, { entry, block }: CurrencyAt): Promise<RowRead<typeof readState> | undefined> {
  return read.row(readState, STATE_SQL, [entry.chain, entry.currencyId, block.height]);
}

export interface SupplyThen {
  readonly supply: Issued;
  readonly stateHeight: number | null;
}

/** At the newest block a daemon supplies what the index lacks; for earlier blocks there is only the index. */
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
