/** Coins that are spent together, and their change. */
import { keyAddress } from './addresses.ts';
import type { Coin } from './coins.ts';
import { payKey, payTokens } from './scripts.ts';
import type { Draft } from './transaction.ts';
import type { World } from './world.ts';

export const NETWORK_FEE = 10_000n;

const TRIES = 12;

/** Finds distinct coins that together have `amount` of a currency (null: native), among a few random ones; else returns none. */
export function findCoins(world: World, currencyId: string | null, amount: bigint): readonly Coin[] {
  const purse = world.coins.purse(currencyId);
  const found = new Set<Coin>();
  let sum = 0n;
  for (let tried = 0; tried < TRIES && sum < amount; tried++) {
    const coin = purse.any(world.random);
    if (!coin || found.has(coin)) continue;
    found.add(coin);
    sum += currencyId === null ? coin.value : (coin.tokens.get(currencyId) ?? 0n);
  }
  return sum >= amount ? [...found] : [];
}

/** Spends coins worth `value` native and these tokens; returns false and spends nothing when they are not found. */
export function fund(
  world: World,
  draft: Draft,
  value: bigint,
  tokens: Iterable<readonly [string, bigint]> = [],
): boolean {
  const all = new Set<Coin>();
  for (const [currencyId, amount] of tokens) {
    const some = findCoins(world, currencyId, amount);
    if (some.length === 0) return false;
    for (const coin of some) all.add(coin);
  }
  const held = [...all].reduce((sum, coin) => sum + coin.value, 0n);
  if (held < value) {
    const some = findCoins(world, null, value - held);
    if (some.length === 0) return false;
    for (const coin of some) all.add(coin);
  }
  for (const coin of all) draft.spend(coin);
  return true;
}

/** Pays the rest of the inputs, minus a fee, to a wallet. */
export function payChange(world: World, draft: Draft, fee = NETWORK_FEE): void {
  const value = draft.left();
  const tokens = draft.tokensLeft();
  const change = value > fee ? value - fee : 0n;
  const owner = world.random.below(world.addresses);
  const { address } = keyAddress(owner);
  if (tokens.size > 0)
    draft.pay(
      change,
      payTokens([address], tokens, (id) => leafName(world, id)),
      tokens,
    );
  else if (change > 0n) draft.pay(change, payKey(keyAddress(owner)));
}

/** Leaf name of a currency, by which the daemon names the currencies of an output. */
export function leafName(world: World, currencyId: string): string {
  return world.currencies.find(({ id }) => id === currencyId)?.name ?? currencyId;
}

export const expiry = (world: World): number => world.height + 20;
