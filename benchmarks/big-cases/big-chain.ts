/** A chain with three unusually large things: an import, an identity, and an address. */
import { SATOSHIS_PER_COIN as COIN } from '../../domain/satoshi.ts';
import { contentKey, keyAddress, NATIVE } from '../../test/generator/addresses.ts';
import type { GeneratedBlock } from '../../test/generator/block.ts';
import { createChain } from '../../test/generator/chain.ts';
import type { Coin } from '../../test/generator/coins.ts';
import type { Currency } from '../../test/generator/currency.ts';
import { expiry, fund, NETWORK_FEE, payChange } from '../../test/generator/funds.ts';
import type { Identity } from '../../test/generator/identity.ts';
import { updateIdentity } from '../../test/generator/identity-updates.ts';
import { EVERYTHING } from '../../test/generator/mixes.ts';
import { fixedHex } from '../../test/generator/print.ts';
import { payKey } from '../../test/generator/scripts.ts';
import { openDraft } from '../../test/generator/transaction.ts';
import { includeTransfers } from '../../test/generator/transfers.ts';
import type { Maker, World } from '../../test/generator/world.ts';

export interface BigSizes {
  readonly transfers: number;
  readonly updates: number;
  readonly deltas: number;
}

export interface BigChain {
  readonly blocks: Iterable<GeneratedBlock>;
  /** Throws RangeError until the blocks have been made. */
  subjects(): { readonly identity: string; readonly basket: string };
}

/** Key of a wallet in addition to the wallets of the chain. */
const BUSY = 1_000_000;
export const BUSY_ADDRESS = keyAddress(BUSY).address;

const TRANSFERS_A_TRANSACTION = 25;
const UPDATES_A_BLOCK = 50;
const DELTAS_A_BLOCK = 1000;
const SMALL_AMOUNT = 1_000n;
const SMALL_FEE = 100n;
const STOCK = 1_000n * COIN;

export function createBigChain(seed: number, sizes: BigSizes): BigChain {
  let inEachBlock: Maker = nothing;
  let drawn: Maker = (world) => world.random.pick(EVERYTHING.makers)(world);
  let found: { identity: Identity; basket: Currency } | undefined;
  const mix = {
    everyBlock: [...EVERYTHING.everyBlock, (world: World) => inEachBlock(world)],
    makers: [(world: World) => drawn(world)],
  };
  const chain = createChain({ seed, addresses: 50, transactions: 12, mix });

  function* blocks(): Generator<GeneratedBlock> {
    inEachBlock = (world) => {
      const basket = world.currencies.find((currency) => isLiveBasket(currency) && currency.pending.length === 0);
      const [identity] = world.identities;
      if (basket && identity) found ??= { identity, basket };
      return true;
    };
    while (!found) yield chain.next();
    const { identity, basket } = found;
    drawn = nothing;
    // The requests are in one block; the next block gathers and imports them.
    inEachBlock = (world) => {
      requestMany(world, basket, sizes.transfers);
      inEachBlock = nothing;
      return true;
    };
    yield chain.next();
    yield chain.next();

    let updates = sizes.updates;
    inEachBlock = (world) => {
      for (let made = 0; made < UPDATES_A_BLOCK && updates > 0; made++) if (update(world, identity)) updates--;
      return true;
    };
    while (updates > 0) yield chain.next();

    let deltas = sizes.deltas;
    let coin: Coin | null = null;
    inEachBlock = (world) => {
      for (let made = 0; made < DELTAS_A_BLOCK && deltas > 0; made++) {
        coin = pass(world, coin);
        if (!coin) return false;
        deltas--;
      }
      return true;
    };
    while (deltas > 0) yield chain.next();
  }

  return {
    blocks: blocks(),
    subjects() {
      if (!found) throw new RangeError('the chain is not made yet');
      return { identity: found.identity.address, basket: found.basket.id };
    },
  };
}

const nothing: Maker = () => false;

const isLiveBasket = ({ kind, stage, supply, reserves }: Currency): boolean =>
  kind === 'basket' &&
  stage === 'live' &&
  supply > COIN &&
  reserves.every(({ id, amount }) => id !== NATIVE || amount > COIN);

function requestMany(world: World, { id }: Currency, count: number): void {
  const terms = { kind: 'convert', by: id, from: NATIVE, to: id, amount: SMALL_AMOUNT } as const;
  const some = Array.from({ length: TRANSFERS_A_TRANSACTION }, () => ({ ...terms, destination: BUSY_ADDRESS }));
  for (let made = 0; made < count; ) if (includeTransfers(world, some)) made += some.length;
}

/** Returns false when no coin can pay for the update. */
function update(world: World, identity: Identity): boolean {
  const draft = openDraft(world);
  if (!fund(world, draft, NETWORK_FEE)) return false;
  const contentMultimap = `{"${contentKey('post')}":["${fixedHex(world.nextNumber(), 32)}"]}`;
  const { apply } = updateIdentity(world, draft, identity, { ...identity.state, contentMultimap });
  payChange(world, draft);
  world.include(draft.finish({ expiryHeight: expiry(world), apply }));
  return true;
}

/** Sends the same coin from the busy address to itself; with null, funds the address from a wallet. */
function pass(world: World, coin: Coin | null): Coin | null {
  const draft = openDraft(world);
  if (coin) draft.spend(coin);
  else if (!fund(world, draft, STOCK)) return null;
  const value = draft.left();
  const next = draft.hold(coin ? value - SMALL_FEE : STOCK - SMALL_FEE, payKey(keyAddress(BUSY)));
  if (!coin) payChange(world, draft);
  world.include(draft.finish());
  return next;
}
