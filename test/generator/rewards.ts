/** Rewards of a block's producer: the coinbase, and the stake at the end of the block. */
import { keyAddress, NATIVE } from './addresses.ts';
import type { Coin } from './coins.ts';
import { coins, fixedHex } from './print.ts';
import { controlScript, nullData, payKey, payTo, stakeGuard } from './scripts.ts';
import { openDraft, type Transaction } from './transaction.ts';
import type { World } from './world.ts';

export const GENESIS_REWARD = 50_00000000n;
export const SUBSIDY = 6_00000000n;
/** Paid by block 1 on top of the subsidy. */
export const PREMINE = 50_000_000_00000000n;

/** Each block pays out one part in this many of the fee pool, and carries the rest forward. */
const POOL_SHARE = 100n;
const LEAST_STAKE_COINS = 3;

export const premineOf = (height: number): bigint => (height === 1 ? PREMINE : 0n);

/** The coinbase of a block whose transactions paid `fees`. It is first in the block, but made last. */
export function coinbase(world: World, fees: bigint, producer: number, isStake: boolean): Transaction {
  const { height, pools, journal, random } = world;
  const draft = openDraft(world);
  const before = pools.fees + fees;
  const pool = before - before / POOL_SHARE;
  const reward = SUBSIDY + premineOf(height) + before - pool;
  const owner = keyAddress(producer);
  // A mining pool splits its reward.
  const share = !isStake && random.oneIn(8) ? reward / 3n : 0n;
  draft.pay(reward - share, isStake ? stakeGuard(owner) : payKey(owner));
  if (share > 0n) draft.pay(share, payKey(keyAddress(random.below(world.addresses))));
  draft.hold(0n, controlScript('feepool', `{"version":1,"currencyvalues":{"${NATIVE}":${coins(pool)}}}`, NATIVE));
  const made = draft.finish({ lockTime: 0, apply: () => journal.set(pools, 'fees', pool) });
  return { ...made, text: asCoinbase(made.text, height) };
}

/** Genesis pays an unknown key, in the oldest form of a transaction. */
export function genesisTransaction(txid: string): string {
  const key = `04${txid}${txid}`;
  return (
    `{"txid":"${txid}","overwintered":false,"version":1,"locktime":0,"vin":[{"coinbase":"04ffff001d0104","sequence":4294967295}],` +
    `"vout":[{"value":${coins(GENESIS_REWARD)},"valueZat":${GENESIS_REWARD},"valueSat":${GENESIS_REWARD},"n":0,"scriptPubKey":{"type":"pubkey",` +
    `"spendableoutput":true,"reqSigs":1,"addresses":["${keyAddress(0).address}"],"asm":"${key} OP_CHECKSIG","hex":"41${key}ac"}}],` +
    `"vjoinsplit":[]}`
  );
}

/** The subsidy and all fees for one key. */
export function plainCoinbase(world: World, fees: bigint, producer: number): Transaction {
  const draft = openDraft(world);
  draft.pay(SUBSIDY + premineOf(world.height) + fees, payKey(keyAddress(producer)));
  const made = draft.finish({ lockTime: 0 });
  return { ...made, text: asCoinbase(made.text, world.height) };
}

function asCoinbase(text: string, height: number): string {
  return text.replace('"vin":[]', `"vin":[{"coinbase":"03${fixedHex(height, 6)}51","sequence":4294967295}]`);
}

/** A coin that could stake, not yet spent. */
export function stakeable(world: World): Coin | undefined {
  const purse = world.coins.purse(null);
  return purse.size > LEAST_STAKE_COINS ? purse.any(world.random) : undefined;
}

/** Spends the coin and pays it back: the last transaction of a stake block. */
export function stakeTransaction(world: World, coin: Coin, plain = false): Transaction {
  const draft = openDraft(world);
  draft.spend(coin);
  draft.pay(coin.value, payTo(coin.address));
  if (!plain) draft.burn(0n, nullData(`445642020000007f000000${fixedHex(world.height, 8)}${coin.txid}`));
  return draft.finish({ expiryHeight: world.height + 100 });
}
