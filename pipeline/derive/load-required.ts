/** Fills a cached state from the store. */

import type { ChainContext } from '../../processors/state/chain-state.ts';
import type { OutPoint } from '../../processors/state/referenced-keys.ts';
import { type CachedState, createCachedState } from './cached-state.ts';
import type { RequiredKeys } from './required-keys.ts';
import type { StoredState } from './stored-state.ts';

const RESERVE_TRANSFER = 'reservetransfer';

/** Returns the committed state right after the block at `height`; null means before genesis. */
export async function openCachedState(
  chain: ChainContext,
  stored: StoredState,
  height: number | null,
): Promise<CachedState> {
  const [tip, lostCoins, currencies, currencyStates] = await Promise.all([
    height === null ? null : stored.tip(height),
    stored.lostCoins(),
    stored.currencies(),
    stored.currencyStates(),
  ]);
  const state = createCachedState(chain, tip, lostCoins);
  currencies.forEach(state.put);
  currencyStates.forEach(state.put);
  return state;
}

/** Loads the keys that the next blocks will look up and that the state lacks. */
export async function loadRequired(state: CachedState, stored: StoredState, wanted: RequiredKeys): Promise<void> {
  const [outputs, identities, exports] = await Promise.all([
    stored.outputs(wanted.outpoints.filter(({ txid, n }) => !state.output(txid, n))),
    stored.identities(wanted.identityAddresses.filter((address) => !state.identity(address))),
    stored.exports(wanted.exports.filter(({ txid, n }) => !state.export(txid, n))),
  ]);
  outputs.forEach(state.put);
  identities.forEach(state.put);
  exports.forEach(state.put);

  const balanceKeys = requiredBalances(state, wanted);
  const transferKeys = requiredTransfers(state, wanted).filter(({ txid, n }) => !state.transfer(txid, n));
  const [balances, transfers] = await Promise.all([stored.balances(balanceKeys), stored.transfers(transferKeys)]);
  for (const [address, currencyId] of balanceKeys) state.putNoBalance(address, currencyId);
  balances.forEach(state.put);
  transfers.forEach(state.put);
}

/** Balances of created and spent outputs that the state lacks. */
function requiredBalances(state: CachedState, { balances, outpoints }: RequiredKeys): (readonly [string, string])[] {
  for (const { txid, n } of outpoints) {
    const spent = state.output(txid, n);
    for (const address of spent?.addresses ?? []) {
      balances.add(address, state.chain.nativeCurrencyId);
      for (const currencyId in spent?.currencies) balances.add(address, currencyId);
    }
  }
  return [...balances.pairs()].filter(([address, currencyId]) => !state.knowsBalance(address, currencyId));
}

/** Spent reserve transfers, and reserve transfers that an import settles. */
function requiredTransfers(state: CachedState, { outpoints, exports }: RequiredKeys): OutPoint[] {
  const spent = outpoints.filter(({ txid, n }) => state.output(txid, n)?.kind === RESERVE_TRANSFER);
  const settled = exports.flatMap(({ txid, n }) => state.export(txid, n)?.transfers ?? []);
  return [...spent, ...settled.map(({ txid, vout: n }) => ({ txid, n }))];
}
