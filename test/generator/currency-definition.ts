/** Definitions of tokens and baskets, on an identity of the same name. */
import { SATOSHIS_PER_COIN as COIN } from '../../domain/satoshi.ts';
import { NATIVE } from './addresses.ts';
import type { Currency, Reserve } from './currency.ts';
import { definitionExport, definitionObject, LAUNCH_FEE } from './currency-definition-object.ts';
import { importObject, notarizationObject, PRELAUNCH } from './currency-state.ts';
import { depositScript } from './export.ts';
import { expiry, fund, NETWORK_FEE, payChange } from './funds.ts';
import { ACTIVE_CURRENCY, type Identity, REVOKED } from './identity.ts';
import { isRootIdentity, updateIdentity } from './identity-updates.ts';
import { NULL_HASH } from './print.ts';
import { controlScript } from './scripts.ts';
import { type Draft, openDraft } from './transaction.ts';
import { requestTransfer, TRANSFER_FEE } from './transfer-request.ts';
import type { World } from './world.ts';

const SHORTEST_PRELAUNCH = 4;
const MOST_CURRENCIES = 12;
const DEFINITION_IMPORT = 9;

export function makeDefinition(world: World): boolean {
  const { random, currencies, identities } = world;
  if (currencies.length >= MOST_CURRENCIES) return false;
  const free = identities.filter(
    (identity) => isRootIdentity(identity) && !(identity.state.flags & (ACTIVE_CURRENCY | REVOKED)),
  );
  if (free.length === 0) return false;
  const identity = random.pick(free);
  const contributions = random.oneIn(3) ? [] : chooseContributions(world);
  const draft = openDraft(world);
  const native = contributions.find(({ id }) => id === NATIVE)?.amount ?? 0n;
  const fees = 2n * LAUNCH_FEE + BigInt(contributions.length) * TRANSFER_FEE + 2n * NETWORK_FEE;
  const tokens = contributions.filter(({ id }) => id !== NATIVE).map(({ id, amount }) => [id, amount] as const);
  if (!fund(world, draft, native + fees, tokens)) return false;
  const { currency, apply } = define(world, draft, identity, contributions);
  payChange(world, draft, LAUNCH_FEE + NETWORK_FEE);
  const transaction = draft.finish({
    expiryHeight: expiry(world),
    fits: () => world.height + 2 < currency.startBlock && contributions.every(({ id }) => isLive(world, id)),
    apply,
  });
  world.include(transaction, 'again');
  return true;
}

const isLive = ({ currencies }: World, id: string): boolean =>
  id === NATIVE || currencies.some((currency) => currency.id === id && currency.stage === 'live');

/** Native coins and up to three currencies, with equal weights, and the definer's contribution of each. */
function chooseContributions({ random, currencies, coins: held }: World): Reserve[] {
  const live = currencies.filter(({ id, stage }) => stage === 'live' && held.purse(id).size > 0);
  const ids = new Set([NATIVE]);
  for (let tries = random.below(4); tries > 0 && live.length > 0; tries--) ids.add(random.pick(live).id);
  const weight = COIN / BigInt(ids.size);
  return Array.from(ids, (id) => {
    const coin = held.purse(id === NATIVE ? null : id).any(random);
    const most = (id === NATIVE ? coin?.value : coin?.tokens.get(id)) ?? 0n;
    const first = id === NATIVE ? COIN - weight * BigInt(ids.size) : 0n;
    return { id, weight: weight + first, amount: random.between(1_000_000n, most / 2n) };
  });
}

function define(world: World, draft: Draft, identity: Identity, contributions: readonly Reserve[]) {
  const { random, height, journal } = world;
  const { address: id } = identity;
  const { name } = identity.state;
  const isBasket = contributions.length > 0;
  const tokenPrice = !isBasket && random.oneIn(2) ? random.between(1_000_000n, 3n * COIN) : 0n;
  const terms = {
    id,
    name,
    kind: isBasket ? ('basket' as const) : ('token' as const),
    isCentralised: !isBasket && random.oneIn(2),
    startBlock: height + SHORTEST_PRELAUNCH + random.below(8),
    fails: (isBasket || tokenPrice > 0n) && random.oneIn(5),
    initialSupply: isBasket ? BigInt(1 + random.below(100_000)) * COIN : 0n,
    tokenPrice,
    preallocation: isBasket
      ? null
      : { to: random.pick(world.identities).address, amount: BigInt(1 + random.below(1_000_000)) * COIN },
    definition: { txid: draft.txid, height },
    stage: 'prelaunch' as const,
    supply: 0n,
    reserves: contributions.map((reserve) => ({ ...reserve, amount: 0n })),
    pending: [],
    prelaunchExports: [],
    exportedHeight: height,
    notarizedHeight: height - 1,
    finalizeCoin: null,
  };
  const update = updateIdentity(world, draft, identity, {
    ...identity.state,
    flags: identity.state.flags | ACTIVE_CURRENCY,
    contentMultimap: '{}',
  });
  draft.hold(0n, controlScript('currencydefinition', definitionObject(terms, contributions), id));
  const none = { txid: NULL_HASH, vout: 4, height: height - 1 };
  const importCoin = draft.hold(
    0n,
    controlScript('crosschainimport', importObject(id, DEFINITION_IMPORT, none, new Map(), 0), id),
  );
  const state = {
    flags: PRELAUNCH,
    height: height - 1,
    supply: isBasket ? terms.initialSupply : (terms.preallocation?.amount ?? 0n),
    reserves: terms.reserves,
    isDefinition: true,
  };
  const notarizationCoin = draft.hold(
    0n,
    controlScript('acceptednotarization', notarizationObject(terms, null, state), id),
  );
  const exportCoin = draft.hold(0n, controlScript('crosschainexport', definitionExport(id, height), id));
  const pending = contributions.map(({ id: from, amount }) =>
    requestTransfer(world, draft, { kind: 'contribution', by: id, from, to: id, amount, destination: id }),
  );
  const deposit = draft.hold(LAUNCH_FEE, depositScript(world, id, LAUNCH_FEE, new Map()));
  const currency: Currency = { ...terms, pending, importCoin, notarizationCoin, exportCoin, deposits: [deposit] };
  return {
    currency,
    apply() {
      update.apply();
      journal.push(world.currencies, currency);
    },
  };
}
