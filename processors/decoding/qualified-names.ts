/** Full names as the daemon prints them, from a name and its parent's i-address. */

import { nameToAddress } from '../../domain/names.ts';
import type { ChainState } from '../state/chain-state.ts';

/** The i-address that means "no parent": 20 zero bytes. */
const NO_PARENT = 'i3UXS5QPRQGNRDDqVnyWTnmFCTHDbzmsYk';

export interface NamedCurrency {
  readonly name: string;
  readonly parent: string | null;
}

/**
 * Returns the name as getcurrency prints it, without the root's name: `Bridge.vETH`. `inBlock` has the definitions of the same
 * block, in which parents may follow their children.
 */
export function qualifiedCurrencyName(
  { name, parent }: NamedCurrency,
  state: ChainState,
  inBlock: ReadonlyMap<string, NamedCurrency>,
): string {
  if (parent === null || parent === NO_PARENT || parent === rootId(state)) return name;
  const defined = inBlock.get(parent);
  return `${name}.${defined ? qualifiedCurrencyName(defined, state, inBlock) : parentName(parent, state)}`;
}

/** Returns the name as getidentity prints it, with the root's name and without the final @: `pay.usdx.VRSC`. */
export function qualifiedIdentityName(name: string, parent: string, state: ChainState): string {
  if (parent === '' || parent === NO_PARENT) return name;
  const { networkRoot } = state.chain;
  return parent === rootId(state) ? `${name}.${networkRoot}` : `${name}.${parentName(parent, state)}.${networkRoot}`;
}

/** A parent that this chain never defined keeps its address, so that two children of the same name remain distinct. */
function parentName(parent: string, state: ChainState): string {
  return state.currency(parent)?.fullyQualifiedName ?? parent;
}

function rootId({ chain }: ChainState): string | null {
  return nameToAddress(chain.networkRoot, chain.networkRoot);
}
