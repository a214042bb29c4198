/** Coins into the shielded pool, out of it, and within it. */
import { expiry, fund, NETWORK_FEE, payChange } from './funds.ts';
import { filler, list } from './print.ts';
import { openDraft, sha256 } from './transaction.ts';
import type { World } from './world.ts';

export function makeShielded(world: World): boolean {
  const { random, pools, journal } = world;
  const draft = openDraft(world);
  const leaves = pools.shielded > 10n * NETWORK_FEE && random.oneIn(2);
  const amount = leaves ? random.between(NETWORK_FEE, pools.shielded) : random.between(1n, 20_00000000n);
  const valueBalance = leaves ? amount : -amount;
  if (!leaves && !fund(world, draft, amount + NETWORK_FEE)) return false;
  draft.shield(valueBalance, shieldedParts(sha256(`shielded ${draft.txid}`), leaves));
  // The fee may be everything that leaves: then the payment stays within the pool.
  if (!leaves || amount < 10n * NETWORK_FEE || !random.oneIn(3)) payChange(world, draft);
  const transaction = draft.finish({
    expiryHeight: expiry(world),
    fits: () => pools.shielded >= valueBalance,
    apply: () => journal.set(pools, 'shielded', pools.shielded - valueBalance),
  });
  world.include(transaction, 'again');
  return true;
}

/** `spends`: whether a note is spent; each transaction makes one or two new notes. */
function shieldedParts(hash: string, spends: boolean): string {
  const short = `"${filler(hash, 32)}"`;
  const proof = `"${filler(hash, 192)}"`;
  const signature = `"${filler(hash, 64)}"`;
  const spend = `{"cv":${short},"anchor":${short},"nullifier":${short},"rk":${short},"proof":${proof},"spendAuthSig":${signature}}`;
  const output =
    `{"cv":${short},"cmu":${short},"ephemeralKey":${short},"encCiphertext":"${filler(hash, 580)}",` +
    `"outCiphertext":"${filler(hash, 80)}","proof":${proof}}`;
  return `"vShieldedSpend":${list(spends ? [spend] : [])},"vShieldedOutput":${list(spends ? [output] : [output, output])},"bindingSig":${signature}`;
}
