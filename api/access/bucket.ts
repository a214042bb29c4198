/** One allowance as this process knows it: its own uses, its lease, and the leases of other processes at the last ledger exchange. */
import { createExpiringSum, type Expiring, type ExpiringSum } from './expiring-sum.ts';
import { type ExchangeAnswer, type ExchangeRequest, LEASE_MS, WINDOW_MS } from './ledger.ts';

export interface Bucket {
  readonly name: string;
  allowance: number;
  readonly uses: ExpiringSum;
  others: ExpiringSum;
  open: number;
  /** Ledger time up to which `open` may be used. */
  until: number;
  /** Ledger time of the last answer; -Infinity before the first. */
  answeredAt: number;
}

/** Up to this allowance, uses are recorded by millisecond; above it, by tenth of a second. */
const FINE_ALLOWANCE = 1_000;
const COARSE_MS = 100;
/** After this time without an answer, other processes may have used or returned their leases. */
const STALE_MS = 1_000;

export function createBucket(name: string, allowance: number): Bucket {
  const none = Number.NEGATIVE_INFINITY;
  return {
    name,
    allowance,
    uses: createExpiringSum(),
    others: createExpiringSum(),
    open: 0,
    until: 0,
    answeredAt: none,
  };
}

export function usable(bucket: Bucket, now: number): number {
  return now < bucket.until ? bucket.open : 0;
}

/** Records the use and returns the time from which it no longer counts, for `giveBack`. */
export function use(bucket: Bucket, amount: number, now: number): number {
  const width = bucket.allowance <= FINE_ALLOWANCE ? 1 : COARSE_MS;
  const end = (Math.floor(now / width) + 1) * width + WINDOW_MS;
  if (amount > 0) {
    bucket.open -= amount;
    bucket.uses.add(end, amount);
  }
  return end;
}

/** Does not return the amount to the open lease: the ledger counts a use only for its own minute, so it must be leased again. */
export function giveBack(bucket: Bucket, amount: number, end: number): void {
  bucket.uses.remove(end, amount);
}

/** Returns the credits that no process has used or leased, plus the open lease of this process. */
export function remaining(bucket: Bucket, now: number): number {
  return Math.max(0, bucket.allowance - bucket.uses.total(now) - bucket.others.total(now));
}

/** Returns the time from which `cost` is available, as far as this process knows. */
export function readyAt({ allowance, uses, others }: Bucket, cost: number, now: number): number {
  if (others.total(now) === 0) return uses.belowAt(allowance - cost, now);
  const both = createExpiringSum([...uses.entries(now), ...others.entries(now)]);
  return both.belowAt(allowance - cost, now);
}

/** Whether other processes may have used more than one lease since the last answer. */
export function isStale(bucket: Bucket, now: number): boolean {
  return now - bucket.answeredAt > STALE_MS;
}

/** Whether this process knows, without asking the ledger, that `cost` is not available now. */
export function isExhausted(bucket: Bucket, cost: number, now: number): boolean {
  if (bucket.others.total(now) > 0 && isStale(bucket, now)) return false;
  return readyAt(bucket, cost, now) > now;
}

/** Whether to renew the lease because it is nearly used up or old, before a caller has to wait for it. */
export function wantsMore(bucket: Bucket, part: number, now: number): boolean {
  const low = usable(bucket, now) < part / 2 || bucket.until - now < LEASE_MS / 2;
  return part > 0 && low && remaining(bucket, now) > usable(bucket, now);
}

export function isIdle(bucket: Bucket, now: number): boolean {
  return usable(bucket, now) === 0 && bucket.uses.total(now) === 0;
}

export function toRequest(bucket: Bucket, needed: number, part: number, now: number): ExchangeRequest {
  bucket.open = usable(bucket, now);
  const { name, allowance, open, uses } = bucket;
  return { bucket: name, allowance, open, uses: uses.entries(now), needed: Math.min(needed, allowance), part };
}

export function takeAnswer(bucket: Bucket, { extra, until, others }: ExchangeAnswer, now: number): void {
  bucket.open += extra;
  bucket.until = until;
  bucket.others = createExpiringSum(others as readonly Expiring[]);
  bucket.answeredAt = now;
}
