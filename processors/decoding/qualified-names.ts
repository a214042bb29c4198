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
 * As getcurrency prints it, the root's name left out: `Bridge.vETH`. `inBlock` are definitions of the same block, of which
 * parents may stand after their children.
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

/** As getidentity prints it, the root's name at the end, without the final @: `pay.usdx.VRSC`. */
export function qualifiedIdentityName(name: string, parent: string, state: ChainState): string {
  if (parent === '' || parent === NO_PARENT) return name;
  const { networkRoot } = state.chain;
  return parent === rootId(state) ? `${name}.${networkRoot}` : `${name}.${parentName(parent, state)}.${networkRoot}`;
}

/** A parent that this chain never defined keeps its address, so that two children of one name stay apart. */
function parentName(parent: string, state: ChainState): string {
  return state.currency(parent)?.fullyQualifiedName ?? parent;
}

function rootId({ chain }: ChainState): string | null {
  return nameToAddress(chain.networkRoot, chain.networkRoot);
}
