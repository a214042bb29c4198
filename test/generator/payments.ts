/** Plain payments of coins, of tokens, and of both. */
import { keyAddress, scriptAddress } from './addresses.ts';
import type { Coin } from './coins.ts';
import { expiry, leafName, NETWORK_FEE, payChange } from './funds.ts';
import { filler, fixedHex } from './print.ts';
import { nullData, payComplex, payKey, payScript, payTokens, type Script } from './scripts.ts';
import { openDraft } from './transaction.ts';
import type { World } from './world.ts';

const ENOUGH_COINS = 3;

/** Pays one or two coins to two to four keys. */
export function makePayment(world: World): boolean {
  return payment(world, (random) => payKey(keyAddress(random)));
}

/** The same to destinations of every kind, occasionally with data. */
export function makeMixedPayment(world: World): boolean {
  const { random, identities } = world;
  return payment(world, (owner) => {
    if (random.oneIn(3)) return payKey(keyAddress(owner));
    if (random.oneIn(3)) return payScript(scriptAddress(owner));
    const identity = identities.length > 0 ? random.pick(identities).address : keyAddress(owner).address;
    return payComplex(random.oneIn(3) ? [identity, keyAddress(owner).address] : [identity]);
  });
}

function payment(world: World, script: (owner: number) => Script): boolean {
  const { random } = world;
  const purse = world.coins.purse(null);
  if (purse.size < ENOUGH_COINS) return false;
  const inputs = new Set<Coin>();
  for (let count = 1 + random.below(2); count > 0; count--) {
    const coin = purse.any(random);
    if (coin) inputs.add(coin);
  }
  const draft = openDraft(world);
  for (const coin of inputs) draft.spend(coin);
  let left = draft.left() - NETWORK_FEE;
  if (left <= 0n) return false;
  const count = 2 + random.below(3);
  for (let n = 0; n < count && left > 0n; n++) {
    const value = n === count - 1 ? left : (left * BigInt(1 + random.below(99))) / 100n;
    if (value > 0n) draft.pay(value, script(random.below(world.addresses)));
    left -= value;
  }
  if (random.oneIn(16)) draft.burn(0n, nullData(filler(fixedHex(world.nextNumber(), 8), 1 + random.below(40))));
  world.include(draft.finish({ expiryHeight: expiry(world) }), 'again');
  return true;
}

/** Pays part of the tokens of one coin to wallets, with or without native coins. */
export function makeTokenPayment(world: World): boolean {
  const { random, currencies } = world;
  if (currencies.length === 0) return false;
  const coin = world.coins.purse(random.pick(currencies).id).any(random);
  const fee = world.coins.purse(null).any(random);
  if (!coin || !fee || fee.value < 2n * NETWORK_FEE) return false;
  const draft = openDraft(world);
  draft.spend(coin);
  draft.spend(fee);
  const tokens = new Map([...coin.tokens].map(([id, amount]) => [id, random.between(1n, amount)]));
  const owners = [keyAddress(random.below(world.addresses)).address];
  if (random.oneIn(5)) owners.push(keyAddress(random.below(world.addresses)).address);
  const value = random.oneIn(2) ? 0n : random.between(0n, draft.left() - NETWORK_FEE);
  draft.pay(
    value,
    payTokens([...new Set(owners)], tokens, (id) => leafName(world, id)),
    tokens,
  );
  payChange(world, draft);
  world.include(draft.finish({ expiryHeight: expiry(world) }), 'again');
  return true;
}
