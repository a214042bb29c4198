/** Names: committed to in one block, registered in a later one. */
import { SATOSHIS_PER_COIN as COIN } from '../../domain/satoshi.ts';
import { identityAddressOf, keyAddress, NATIVE } from './addresses.ts';
import type { Currency } from './currency.ts';
import { expiry, fund, leafName, NETWORK_FEE, payChange } from './funds.ts';
import { type Commitment, type Identity, identityAddresses, identityObject, reservationObject } from './identity.ts';
import { newName } from './names.ts';
import { identityScript, payComplex, payTokens } from './scripts.ts';
import { type Draft, openDraft, sha256 } from './transaction.ts';
import { type PendingTransfer, requestTransfer } from './transfer-request.ts';
import type { World } from './world.ts';

const FULL_PRICE = 100n * COIN;
const REFERRED_PRICE = 80n * COIN;
const REFERRAL_REWARD = 20n * COIN;
const REFERRAL_LEVELS = 3;
/** Price of an identity under a currency: in the currency's own tokens, and in native coins. */
export const SUB_IDENTITY_PRICE = 2n * COIN;
const SUB_IDENTITY_FEE = 2_000_000n;

export function makeCommitment(world: World): boolean {
  const { random, identities, currencies, journal } = world;
  const draft = openDraft(world);
  if (!fund(world, draft, NETWORK_FEE)) return false;
  const parents = currencies.filter(({ stage }) => stage === 'live');
  const parent = parents.length > 0 && random.oneIn(4) ? random.pick(parents) : null;
  const name = newName(world, (wanted) => world.takenNames.has(addressOf(wanted, parent)));
  world.takenNames.add(addressOf(name, parent));
  const siblings = identities.filter((identity) => identity.parent === (parent?.id ?? NATIVE));
  const salt = sha256(`salt ${draft.txid}`);
  const hash = sha256(`${salt} ${name}`);
  const coin = draft.hold(
    0n,
    identityScript('commitmenthash', `{"version":1,"currencyvalues":{},"hash":"${hash}"}`, [
      keyAddress(random.below(world.addresses)).address,
    ]),
  );
  payChange(world, draft);
  const commitment: Commitment = {
    coin,
    name,
    parent,
    referrer: siblings.length > 0 && random.oneIn(2) ? random.pick(siblings) : null,
    salt,
    height: world.height,
  };
  const apply = () => journal.push(world.commitments, commitment);
  world.include(draft.finish({ expiryHeight: expiry(world), apply }), 'again');
  return true;
}

export function makeRegistration(world: World): boolean {
  const { random, commitments, identities, journal } = world;
  const ripe = commitments.filter(({ height }) => height < world.height);
  if (ripe.length === 0) return false;
  const commitment = random.pick(ripe);
  const { parent, referrer, name } = commitment;
  if (parent && parent.stage !== 'live') return false;
  const referrers = referrer ? [referrer.address, ...referrer.referrers].slice(0, REFERRAL_LEVELS) : [];
  const price = parent ? SUB_IDENTITY_FEE : referrer ? REFERRED_PRICE : FULL_PRICE;
  const draft = openDraft(world);
  draft.spend(commitment.coin);
  if (!fund(world, draft, price + 2n * NETWORK_FEE, parent ? [[parent.id, SUB_IDENTITY_PRICE]] : [])) return false;

  const address = addressOf(name, parent);
  const authority = () => (identities.length > 0 && random.oneIn(3) ? random.pick(identities).address : address);
  const state = {
    name,
    flags: 0,
    primaryAddresses: [keyAddress(random.below(world.addresses)).address],
    minimumSignatures: 1,
    contentMap: '{}',
    contentMultimap: '{}',
    revocationAuthority: authority(),
    recoveryAuthority: authority(),
    privateAddress: null,
    timelock: 0,
  };
  const object = identityObject(address, parent?.id ?? NATIVE, state);
  const coin = draft.hold(0n, identityScript('identityprimary', object, identityAddresses(address, state)));
  const burn = parent && payParent(world, draft, parent);
  const rewards = parent ? [] : referrers;
  for (const paid of rewards) draft.pay(REFERRAL_REWARD, payComplex([paid]));
  draft.hold(0n, identityScript('identityreservation', reservationObject(commitment, address), [address]));
  payChange(world, draft, price - REFERRAL_REWARD * BigInt(rewards.length) + NETWORK_FEE);
  const identity: Identity = { address, parent: parent?.id ?? NATIVE, referrers, state, coin };
  const transaction = draft.finish({
    expiryHeight: expiry(world),
    fits: () =>
      commitments.includes(commitment) && (!parent || (world.currencies.includes(parent) && parent.stage === 'live')),
    apply() {
      journal.remove(commitments, commitment);
      journal.push(identities, identity);
      if (parent && burn) journal.push(parent.pending, burn);
    },
  });
  world.include(transaction, 'again');
  return true;
}

/** A currency's controller earns the price of its identities; without a controller the price is burned. */
function payParent(world: World, draft: Draft, { id, isCentralised }: Currency): PendingTransfer | null {
  if (!isCentralised) {
    const terms = { kind: 'burn', by: id, from: id, to: id, amount: SUB_IDENTITY_PRICE, destination: id } as const;
    return requestTransfer(world, draft, { ...terms, isIdentityFee: true });
  }
  const price = new Map([[id, SUB_IDENTITY_PRICE]]);
  draft.pay(
    0n,
    payTokens([id], price, (currencyId) => leafName(world, currencyId)),
    price,
  );
  return null;
}

const addressOf = (name: string, parent: Currency | null): string => identityAddressOf(name, parent?.name ?? null);
