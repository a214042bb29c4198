/**
 * The shared account of one allowance: the uses of each process in the last minute, and the part that it has leased in advance. A process
 * uses only what it has leased, so uses and leases together never exceed the allowance in any window of a minute, whichever process crashes.
 */
import type { Expiring } from './expiring-sum.ts';

export const WINDOW_MS = 60_000;
/** How long a leased part may be used. */
export const LEASE_MS = 60_000;
/** The clocks of the processes differ by less than this. */
export const SKEW_MS = 1_000;

/** Account of one process: its lease, and its recent uses. */
export interface ProcessLease {
  /** Leased and not used yet. */
  readonly open: number;
  /** Ledger time up to which the open part may be used. */
  readonly until: number;
  /** Used amounts, each with the time from which it no longer counts. */
  readonly uses: readonly Expiring[];
}

/** Leases by process. */
export type ProcessLeases = Readonly<Record<string, ProcessLease>>;

export interface ExchangeRequest {
  readonly bucket: string;
  readonly allowance: number;
  /** Open lease of the process; `uses` are its uses in the last minute. */
  readonly open: number;
  readonly uses: readonly Expiring[];
  /** Smallest lease that serves the waiting callers. */
  readonly needed: number;
  /** Preferred lease. */
  readonly part: number;
}

export interface ExchangeAnswer {
  /** Granted in addition to the open lease. */
  readonly extra: number;
  readonly until: number;
  /** Leases and recent uses of the other processes, in ascending order of expiry. */
  readonly others: readonly Expiring[];
}

/** Storage of the leases. All requests of an exchange are from `process`; `now` is ledger time. */
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

/** Returns the time from which nothing of a lease counts. */
const endOf = ({ open, until, uses }: ProcessLease) =>
  Math.max(0, open > 0 ? until + WINDOW_MS : 0, ...uses.map(([end]) => end)) + SKEW_MS;

export interface SettledLeases {
  readonly shares: ProcessLeases;
  readonly endsAt: number;
  readonly answer: ExchangeAnswer;
}

/** Returns the leases after one process has reported its uses and received its grant. */
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
