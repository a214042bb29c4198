/**
 * The effect of one import on a basket: a price for each reserve, the payout of every transfer, and the state after it. The prices
 * are simpler than the daemon's; payouts and fees at these prices follow its arithmetic to the satoshi.
 */
import { SATOSHIS_PER_COIN as COIN } from '../../domain/satoshi.ts';
import { NATIVE } from './addresses.ts';
import { midPrice, type Reserve } from './currency.ts';
import type { PendingTransfer } from './transfer-request.ts';

export interface ClearingBasket {
  readonly id: string;
  readonly supply: bigint;
  readonly reserves: readonly Reserve[];
}

export interface ClearingPayout {
  readonly to: string;
  readonly currencyId: string;
  readonly amount: bigint;
}

/** One reserve's part of an import, named as in the daemon. */
export interface Flow {
  reserveIn: bigint;
  primaryIn: bigint;
  reserveOut: bigint;
  price: bigint;
  viaPrice: bigint;
  fees: bigint;
  conversionFees: bigint;
}

export interface Cleared {
  readonly payouts: readonly ClearingPayout[];
  readonly flows: ReadonlyMap<string, Flow>;
  readonly after: ClearingBasket;
  /** Native coins that leave the basket as fees, including the transfers' own. */
  readonly fees: bigint;
  readonly primaryFees: bigint;
  readonly preconverted: bigint;
}

const FEE_RATE = 25_000n;
const LEAST_LEFT = 2n;

/** 0.025 % */
export const oneFee = (amount: bigint): bigint => (amount * FEE_RATE) / COIN;
const conversionFee = ({ kind, amount }: PendingTransfer): bigint =>
  kind === 'burn' || kind === 'mint' ? 0n : kind === 'via' ? 2n * oneFee(amount) : oneFee(amount);
export const netOf = (transfer: PendingTransfer): bigint => transfer.amount - conversionFee(transfer);

/** `launchPrices` are fixed. Returns null when the basket cannot cover the transfers: then every transfer is refunded. */
export function clear(
  before: ClearingBasket,
  transfers: readonly PendingTransfer[],
  launchPrices?: ReadonlyMap<string, bigint>,
): Cleared | null {
  const flows = new Map<string, Flow>();
  for (const reserve of before.reserves) {
    const price = launchPrices?.get(reserve.id) ?? clearingPrice(before, reserve, transfers);
    if (price <= 0n) return null;
    flows.set(reserve.id, {
      reserveIn: 0n,
      primaryIn: 0n,
      reserveOut: 0n,
      price,
      viaPrice: price,
      fees: 0n,
      conversionFees: 0n,
    });
  }
  const flow = (id: string): Flow => {
    const found = flows.get(id);
    if (!found) throw new RangeError(`${id} is no reserve of ${before.id}`);
    return found;
  };
  const native = flow(NATIVE);

  // The inputs, and the part of the fees that is sold for native coins.
  const bought = new Map<PendingTransfer, bigint>();
  /** Basket tokens that this import bought, to be sold for each reserve. */
  const crossing = new Map<string, bigint>();
  const cross = (id: string, amount: bigint) => crossing.set(id, (crossing.get(id) ?? 0n) + amount);
  let supply = before.supply;
  let primaryFees = 0n;
  let fees = 0n;
  for (const transfer of transfers) {
    const { kind, from, to, amount } = transfer;
    const fee = conversionFee(transfer);
    native.fees += transfer.fee;
    fees += transfer.fee;
    if (from === before.id) {
      supply -= amount;
      primaryFees += fee;
      if (kind !== 'burn') flow(to).primaryIn += amount - fee;
      continue;
    }
    const source = flow(from);
    source.reserveIn += amount;
    source.fees += fee;
    source.conversionFees += fee;
    if (kind === 'burn') continue;
    const tokens = (netOf(transfer) * COIN) / source.price;
    bought.set(transfer, tokens);
    if (kind === 'via') cross(to, tokens);
  }
  // Half of a conversion fee stays in the basket; the other half leaves in native coins, which are bought when it is another currency.
  const direct = native.conversionFees / 2n;
  const tokens = feeTokens(flows, primaryFees);
  native.primaryIn += tokens;
  cross(NATIVE, tokens);
  for (const { id, amount } of before.reserves) {
    flow(id).viaPrice = viaPrice(flow(id).price, crossing.get(id) ?? 0n, amount);
  }
  const exchanged = (tokens * native.viaPrice) / COIN;
  fees += direct + exchanged;
  native.reserveIn -= direct;
  native.reserveOut += exchanged;

  // The payouts.
  const payouts: ClearingPayout[] = [];
  let preconverted = 0n;
  for (const transfer of transfers) {
    const { kind, from, to, destination } = transfer;
    if (kind === 'burn') continue;
    const onTheWay = bought.get(transfer);
    const sold = (price: bigint) => ((onTheWay ?? netOf(transfer)) * price) / COIN;
    const amount = kind === 'via' ? sold(flow(to).viaPrice) : (onTheWay ?? sold(flow(to).price));
    const currencyId = from === before.id || kind === 'via' ? to : before.id;
    if (currencyId !== before.id) flow(currencyId).reserveOut += amount;
    else if (launchPrices) preconverted += amount;
    else supply += amount;
    if (amount > 0n) payouts.push({ to: destination, currencyId, amount });
  }
  const reserves = before.reserves.map((reserve) => {
    const { reserveIn, reserveOut } = flow(reserve.id);
    return { ...reserve, amount: reserve.amount + reserveIn - reserveOut };
  });
  const isSound = reserves.every(({ amount }, index) => amount * LEAST_LEFT >= (before.reserves[index]?.amount ?? 0n));
  if (!launchPrices && (!isSound || supply * LEAST_LEFT < before.supply)) return null;
  return { payouts, flows, after: { ...before, supply, reserves }, fees, primaryFees, preconverted };
}

/** Basket tokens that are sold for the native half of the fees. */
function feeTokens(flows: ReadonlyMap<string, Flow>, primaryFees: bigint): bigint {
  let tokens = primaryFees / 2n;
  for (const [id, { conversionFees, price }] of flows) {
    if (id !== NATIVE) tokens += ((conversionFees / 2n) * COIN) / price;
  }
  return tokens;
}

/** The middle between the price before the import and the price that its net flow would lead to. */
function clearingPrice(before: ClearingBasket, reserve: Reserve, transfers: readonly PendingTransfer[]): bigint {
  const mid = midPrice(reserve, before.supply);
  let net = 0n;
  for (const transfer of transfers) {
    if (transfer.kind === 'burn') continue;
    if (transfer.from === reserve.id) net += netOf(transfer);
    if (transfer.from === before.id && transfer.to === reserve.id) net -= (netOf(transfer) * mid) / COIN;
  }
  return reserve.amount === 0n ? 0n : mid + (mid * net) / (2n * reserve.amount);
}

/** Tokens bought by first legs are sold after the rest, at a slightly lower price. */
function viaPrice(price: bigint, crossing: bigint, reserve: bigint): bigint {
  if (reserve === 0n) return price;
  const lower = price - (price * ((crossing * price) / COIN)) / (2n * reserve);
  return lower > 1n ? lower : 1n;
}
