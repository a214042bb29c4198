/**
 * The shared account of one allowance: what each process has used of it in the last minute, and what part it has taken
 * ahead. A process uses only what it has taken, so the sum of both never exceeds the allowance in any window of a minute,
 * whichever process dies when.
 */
import type { Expiring } from './expiring-sum.ts';

export const WINDOW_MS = 60_000;
/** For so long a part that was taken may be used. */
export const LEASE_MS = 60_000;
/** The processes' clocks differ by less than this. */
export const SKEW_MS = 1_000;

/** Account of one process: its lease, and its recent uses. */
export interface ProcessLease {
  /** Taken and not used yet. */
  readonly open: number;
  /** Ledger time up to which the open part may be used. */
  readonly until: number;
  /** Used, by the moment from which it no longer counts. */
  readonly uses: readonly Expiring[];
}

/** By process. */
export type ProcessLeases = Readonly<Record<string, ProcessLease>>;

export interface ExchangeRequest {
  readonly bucket: string;
  readonly allowance: number;
  /** Open lease of the process, and its use in the last minute. */
  readonly open: number;
  readonly uses: readonly Expiring[];
  /** Least lease that serves the waiting callers. */
  readonly needed: number;
  /** Preferred lease. */
  readonly part: number;
}

export interface ExchangeAnswer {
  /** Granted in addition to the open lease. */
  readonly extra: number;
  readonly until: number;
  /** Leases and recent uses of the other processes, by their expiry. */
  readonly others: readonly Expiring[];
}

/** Storage of the leases. The requests come from one process, at `now` of the ledger's clock. */
export interface AllowanceLedger {
  exchange(process: string, now: number, requests: readonly ExchangeRequest[]): Promise<ExchangeAnswer[]>;
}

function heldByOthers(shares: ProcessLeases, process: string, now: number): Expiring[] {
  return Object.entries(shares)
    .filter(([name]) => name !== process)
    .flatMap(([, { open, until, uses }]): Expiring[] => [
      ...uses.map(([end, amount]): Expiring => [end + SKEW_MS, amount]),
      ...(open > 0 ? [[until + WINDOW_MS + SKEW_MS, open] as const] : []),
    ])
    .filter(([end]) => end > now)
    .sort(([a], [b]) => a - b);
}

const sum = (amounts: readonly Expiring[]) => amounts.reduce((total, [, amount]) => total + amount, 0);

/** Moment from which nothing of a share counts. */
const endOf = ({ open, until, uses }: ProcessLease) =>
  Math.max(0, open > 0 ? until + WINDOW_MS : 0, ...uses.map(([end]) => end)) + SKEW_MS;

export interface SettledLeases {
  readonly shares: ProcessLeases;
  readonly endsAt: number;
  readonly answer: ExchangeAnswer;
}

/** The leases after one process has reported its use and taken its grant. */
export function settleLease(
  shares: ProcessLeases,
  process: string,
  now: number,
  request: ExchangeRequest,
): SettledLeases {
  const { allowance, open, needed, part } = request;
  const others = heldByOthers(shares, process, now);
  const uses = request.uses.filter(([end]) => end > now);
  const free = allowance - sum(others) - sum(uses) - open;
  const wanted = Math.max(needed, part) - open;
  const extra = Math.max(0, Math.min(wanted, free));
  const until = now + LEASE_MS;
  const own: ProcessLease = { open: open + extra, until, uses };
  const active = Object.entries(shares).filter(([name, share]) => name !== process && endOf(share) > now);
  const after: ProcessLeases = { ...Object.fromEntries(active), [process]: own };
  return { shares: after, endsAt: Math.max(...Object.values(after).map(endOf)), answer: { extra, until, others } };
}
