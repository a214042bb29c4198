/** Reserve transfers of every kind, for any currency that accepts them. */
import { SATOSHIS_PER_COIN as COIN } from '../../domain/satoshi.ts';
import { keyAddress, NATIVE } from './addresses.ts';
import type { Currency } from './currency.ts';
import { expiry, fund, NETWORK_FEE, payChange } from './funds.ts';
import { openDraft } from './transaction.ts';
import { type GeneratedTerms, type PendingTransfer, requestTransfer, transferCost } from './transfer-request.ts';
import type { World } from './world.ts';

/** A transfer takes at most one part in this many of a reserve or a supply. */
const LARGEST_SHARE = 200n;
const MOST_PENDING = 60;
const LARGEST_DUST = 50n;

/** Makes one to four transfers in one transaction. */
export function makeTransfers(world: World): boolean {
  const { random } = world;
  const open = world.currencies.filter((currency) => takesTransfers(world, currency));
  if (open.length === 0) return false;
  const wanted: GeneratedTerms[] = [];
  for (let count = 1 + random.below(4); count > 0; count--) {
    const terms = termsFor(world, random.pick(open));
    if (terms) wanted.push(terms);
  }
  return includeTransfers(world, wanted);
}

/** Returns false and does nothing when no coins can pay for the transfers. */
export function includeTransfers(world: World, wanted: readonly GeneratedTerms[]): boolean {
  if (wanted.length === 0) return false;
  const tokens = new Map<string, bigint>();
  let value = 2n * NETWORK_FEE;
  for (const cost of wanted.map(transferCost)) {
    value += cost.value;
    for (const [id, amount] of cost.tokens) tokens.set(id, (tokens.get(id) ?? 0n) + amount);
  }
  const draft = openDraft(world);
  if (!fund(world, draft, value, tokens)) return false;
  const transfers = wanted.map((terms) => requestTransfer(world, draft, terms));
  payChange(world, draft);
  const currencyOf = ({ by }: PendingTransfer) => world.currencies.find(({ id }) => id === by);
  const transaction = draft.finish({
    expiryHeight: expiry(world),
    fits: () => transfers.every((transfer) => fitsStill(world, transfer, currencyOf(transfer))),
    apply() {
      for (const transfer of transfers) {
        const currency = currencyOf(transfer);
        if (currency) world.journal.push(currency.pending, transfer);
      }
    },
  });
  world.include(transaction, 'again');
  return true;
}

function fitsStill(world: World, { kind }: PendingTransfer, currency: Currency | undefined): boolean {
  if (!currency) return false;
  return kind === 'preconvert'
    ? currency.stage === 'prelaunch' && world.height < currency.startBlock
    : currency.stage === 'live';
}

function takesTransfers({ height }: World, { kind, stage, pending, startBlock, tokenPrice }: Currency): boolean {
  if (pending.length >= MOST_PENDING) return false;
  if (stage === 'prelaunch') return height < startBlock && (kind === 'basket' || tokenPrice > 0n);
  return stage === 'live';
}

function termsFor(world: World, currency: Currency): GeneratedTerms | null {
  const { random } = world;
  const { id, kind, stage, reserves } = currency;
  const destination = someDestination(world);
  if (stage === 'prelaunch') {
    const from = kind === 'basket' ? random.pick(reserves).id : NATIVE;
    return affordable(world, { kind: 'preconvert', by: id, from, to: id, destination }, 1_000n * COIN);
  }
  if (kind === 'token') {
    if (currency.isCentralised && random.oneIn(2)) {
      return { kind: 'mint', by: id, from: NATIVE, to: id, amount: random.between(1n, 1_000n * COIN), destination };
    }
    return affordable(world, { kind: 'burn', by: id, from: id, to: id, destination }, currency.supply / LARGEST_SHARE);
  }
  const source = random.pick(reserves);
  const target = random.pick(reserves);
  const ofReserve = source.amount / LARGEST_SHARE;
  const ofSupply = currency.supply / LARGEST_SHARE;
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      return affordable(world, { kind: 'convert', by: id, from: source.id, to: id, destination }, ofReserve);
    case 3:
    case 4:
      return affordable(world, { kind: 'convert', by: id, from: id, to: target.id, destination }, ofSupply);
    case 5:
      return affordable(world, { kind: 'burn', by: id, from: id, to: id, destination }, ofSupply);
    case 6:
      return affordable(world, { kind: 'burn', by: id, from: source.id, to: id, destination }, ofReserve);
    default:
      if (source === target) return null;
      return affordable(world, { kind: 'via', by: id, from: source.id, to: target.id, destination }, ofReserve);
  }
}

/** An amount that some coin can pay, at most `limit`; occasionally so small that it pays nothing out. */
function affordable(world: World, terms: Omit<GeneratedTerms, 'amount'>, limit: bigint): GeneratedTerms | null {
  const { random } = world;
  const coin = world.coins.purse(terms.from === NATIVE ? null : terms.from).any(random);
  const held = (terms.from === NATIVE ? coin?.value : coin?.tokens.get(terms.from)) ?? 0n;
  const most = held < limit ? held : limit;
  if (most < 1n) return null;
  const isDust = terms.kind !== 'preconvert' && random.oneIn(10);
  const least = terms.kind === 'preconvert' ? (most / 2n < 1n ? 1n : most / 2n) : 1n;
  return {
    ...terms,
    amount: isDust ? random.between(1n, LARGEST_DUST < most ? LARGEST_DUST : most) : random.between(least, most),
  };
}

function someDestination({ random, identities, addresses }: World): string {
  if (identities.length > 0 && random.oneIn(4)) return random.pick(identities).address;
  return keyAddress(random.below(addresses)).address;
}
