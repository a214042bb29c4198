/**
 * Rate limiter over all processes: in any 60 s the accepted sum never exceeds an allowance. Charges that fit into a lease of this process
 * are decided at once; for the rest, one ledger exchange serves all waiting callers.
 */
import { RetryableError } from '../../schemas/errors.ts';
import {
  type Bucket,
  createBucket,
  giveBack,
  isExhausted,
  isIdle,
  isStale,
  readyAt,
  remaining,
  takeAnswer,
  toRequest,
  usable,
  use,
  wantsMore,
} from './bucket.ts';
import { type AllowanceLedger, WINDOW_MS } from './ledger.ts';

export interface AllowanceDemand {
  /** Name of the allowance: its owner and kind. */
  readonly bucket: string;
  readonly allowance: number;
  readonly cost: number;
  /** Total cost, if `cost` is only the rest of a partly charged request: a retry pays the total again. */
  readonly whole?: number;
  /** Other callers share this allowance: once it is used up, a caller that was not seen lately is refused without keeping a bucket for it. */
  readonly isShared?: true;
}

export interface AllowanceStatus {
  readonly allowance: number;
  readonly remaining: number;
  /** Milliseconds until the whole allowance is available again. */
  readonly resetMs: number;
}

export interface LimiterDecision {
  readonly accepted: boolean;
  /** Milliseconds until the same demands may pass; 0 if accepted, Infinity if they cost more than an allowance contains. */
  readonly retryMs: number;
  /** In the order of the demands. */
  readonly standings: readonly AllowanceStatus[];
  /** Reverts the charge, for work that failed through a fault of the service. */
  giveBack(): void;
}

export interface Limiter {
  /** Charges all demands or none. Returns null, charging nothing, if the ledger must be asked first. */
  chargeNow(demands: readonly AllowanceDemand[]): LimiterDecision | null;
  /** As `chargeNow`, but asks the ledger if necessary. @throws LimitsUnavailable */
  charge(demands: readonly AllowanceDemand[]): Promise<LimiterDecision>;
  /** Returns the milliseconds until these demands may pass, as far as this process knows, or Infinity as in `retryMs`. Charges nothing. */
  waitMs(demands: readonly AllowanceDemand[]): number;
  /** Removes the buckets of callers with no recent requests. */
  forgetIdle(): void;
  /** Returns unused leases. */
  close(): Promise<void>;
}

export interface LimiterOptions {
  readonly ledger: AllowanceLedger;
  /** Unique name of this process in the ledger. */
  readonly process: string;
  /** Milliseconds; must never run faster than real time. */
  readonly now: () => number;
  /** Number of live API processes, including this one. */
  readonly members: () => number;
}

/** The caller's usage is unknown because the ledger does not answer. */
export class LimitsUnavailable extends RetryableError {
  constructor(cause: unknown) {
    super('limits_unavailable', 'the limits cannot be enforced while Postgres does not answer', { cause });
  }
}

class BucketDebit {
  readonly bucket: Bucket;
  readonly cost: number;
  /** The cost of a retry. */
  readonly #whole: number;
  /** Time from which the use no longer counts; null until the bucket is charged. */
  end: number | null = null;

  constructor(bucket: Bucket, { cost, whole = cost }: AllowanceDemand) {
    this.bucket = bucket;
    this.cost = cost;
    this.#whole = whole;
  }

  lacks(at: number): boolean {
    return this.cost > 0 && usable(this.bucket, at) < this.cost;
  }

  /** Whether this process knows, without asking the ledger, that the debit cannot be paid now. */
  isHopeless(at: number): boolean {
    return this.lacks(at) && isExhausted(this.bucket, this.cost, at);
  }

  /** Milliseconds until a retry can pay its cost. */
  waitMs(at: number): number {
    return this.#whole > 0 ? readyAt(this.bucket, this.#whole, at) - at : 0;
  }
}

/** A class because every request creates one, and its methods are then created only once. */
class Decision implements LimiterDecision {
  readonly accepted: boolean;
  readonly retryMs: number;
  readonly standings: readonly AllowanceStatus[];
  readonly #claims: readonly BucketDebit[];

  constructor(debits: readonly BucketDebit[], at: number, retryMs: number) {
    this.accepted = retryMs === 0;
    this.retryMs = retryMs;
    this.standings = debits.map(({ bucket }) => standing(bucket, at));
    this.#claims = debits;
  }

  giveBack(): void {
    for (const { bucket, cost, end } of this.#claims) if (end !== null) giveBack(bucket, cost, end);
  }
}

function standing(bucket: Bucket, at: number): AllowanceStatus {
  const resetMs = Math.max(bucket.uses.emptyAt(at), bucket.others.emptyAt(at)) - at;
  return { allowance: bucket.allowance, remaining: remaining(bucket, at), resetMs: Math.min(resetMs, WINDOW_MS) };
}

/** Fraction of an allowance that all processes together lease in advance, even while another process joins. */
const AHEAD = 0.1;
/** Half of the time after which the usage data of other processes is stale. */
const REFRESH_MS = 500;
/** After a failure, requests to the ledger fail at once for this time. */
const FAILURE_MS = 500;
const CLOSE_BATCH = 1_000;

/** Queue of requests to the ledger: one exchange runs at a time, and the next takes all requests that arrived meanwhile. */
function createLedgerQueue({ ledger, process, now }: LimiterOptions, partOf: (bucket: Bucket) => number) {
  /** Credits that waiting callers need and that were not yet requested from the ledger. */
  let pending = new Map<Bucket, number>();
  let next: Promise<void> | null = null;
  let running: Promise<unknown> = Promise.resolve();
  let failure: { readonly error: LimitsUnavailable; readonly at: number } | null = null;

  async function exchange(): Promise<void> {
    const asked = [...pending];
    pending = new Map();
    next = null;
    const at = now();
    const requests = asked.map(([bucket, needed]) => toRequest(bucket, needed, partOf(bucket), at));
    const answers = await ledger.exchange(process, at, requests).catch((cause: unknown) => {
      const error = new LimitsUnavailable(cause);
      failure = { error, at };
      throw error;
    });
    failure = null;
    for (const [index, [bucket]] of asked.entries()) {
      const answer = answers[index];
      if (answer) takeAnswer(bucket, answer, at);
    }
  }

  /** Resolves after the ledger has answered. @throws LimitsUnavailable */
  function ask(bucket: Bucket, needed: number): Promise<void> {
    if (failure && now() - failure.at < FAILURE_MS) return Promise.reject(failure.error);
    pending.set(bucket, (pending.get(bucket) ?? 0) + needed);
    if (!next) {
      next = running.then(exchange);
      running = next.catch(() => undefined);
    }
    return next;
  }

  return {
    ask,
    /** Whether a request for the bucket waits for the next exchange. */
    isPending: (bucket: Bucket): boolean => pending.has(bucket),
    /** Resolves when no exchange is running. */
    settled: (): Promise<unknown> => running,
  };
}

/** Returns null if no debit is hopeless. */
function refusal(debits: readonly BucketDebit[], at: number): LimiterDecision | null {
  if (!debits.some((debit) => debit.isHopeless(at))) return null;
  return new Decision(debits, at, Math.max(...debits.map((debit) => debit.waitMs(at))));
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { ledger, process, now, members } = options;
  const buckets = new Map<string, Bucket>();
  const partOf = (bucket: Bucket) => Math.floor((bucket.allowance * AHEAD) / (members() + 1));
  const { ask, isPending, settled } = createLedgerQueue(options, partOf);

  function bucketOf({ bucket: name, allowance }: AllowanceDemand): Bucket {
    let bucket = buckets.get(name);
    if (!bucket) {
      bucket = createBucket(name, allowance);
      buckets.set(name, bucket);
    }
    bucket.allowance = allowance;
    return bucket;
  }

  const debitsOf = (demands: readonly AllowanceDemand[]) =>
    demands.map((demand) => new BucketDebit(bucketOf(demand), demand));

  /** Does not keep a bucket for a caller that was not seen before. */
  const unkeptDebitsOf = (demands: readonly AllowanceDemand[]) =>
    demands.map((demand) => {
      const { bucket, allowance } = demand;
      return new BucketDebit(buckets.get(bucket) ?? createBucket(bucket, allowance), demand);
    });

  /** Returns null if the ledger must be asked first. */
  function decide(debits: readonly BucketDebit[], at: number): LimiterDecision | null {
    if (debits.every((debit) => !debit.lacks(at))) {
      for (const debit of debits) {
        debit.end = use(debit.bucket, debit.cost, at);
        prefetch(debit.bucket, at);
      }
      return new Decision(debits, at, 0);
    }
    return refusal(debits, at);
  }

  /**
   * Refuses a caller that was not seen lately if an allowance that it shares with others is used up, without keeping a bucket for it: an
   * attacker may use a new network for each request. Returns null if the caller may pass.
   */
  function refuseUnseen(demands: readonly AllowanceDemand[], at: number): LimiterDecision | null {
    if (demands.every(({ bucket }) => buckets.has(bucket))) return null;
    const debits = unkeptDebitsOf(demands);
    const isUsedUp = demands.some(
      ({ bucket, isShared }, index) => isShared && buckets.has(bucket) && debits[index]?.isHopeless(at),
    );
    return isUsedUp ? refusal(debits, at) : null;
  }

  function prefetch(bucket: Bucket, at: number): void {
    // Refreshes busy buckets before their data is stale, so that frequent callers never wait for the ledger.
    const isAging = members() > 1 && at - bucket.answeredAt > REFRESH_MS;
    if ((wantsMore(bucket, partOf(bucket), at) || isAging) && !isPending(bucket)) {
      // Failures are ignored: the request that needs the credits asks again and reports the failure.
      ask(bucket, 0).catch(() => undefined);
    }
  }

  /** On first use and after a pause, the caller may have used other processes since this process last read the ledger. */
  function isUninformed(bucket: Bucket, at: number): boolean {
    const isAlone = members() === 1 && bucket.others.total(at) === 0 && bucket.answeredAt !== Number.NEGATIVE_INFINITY;
    return !isAlone && isStale(bucket, at);
  }

  function chargeNow(demands: readonly AllowanceDemand[]): LimiterDecision | null {
    const at = now();
    const refused = refuseUnseen(demands, at);
    if (refused) return refused;
    const debits = debitsOf(demands);
    // Asks the ledger so that the headers are correct even for the first request after a pause.
    return debits.some(({ bucket }) => isUninformed(bucket, at)) ? null : decide(debits, at);
  }

  async function charge(demands: readonly AllowanceDemand[]): Promise<LimiterDecision> {
    const atHand = chargeNow(demands);
    if (atHand) return atHand;
    for (;;) {
      const at = now();
      const asked = demands.map(async (demand) => {
        const bucket = bucketOf(demand);
        if (usable(bucket, at) < demand.cost) await ask(bucket, demand.cost);
        // An open lease may be spent while the ledger does not answer; only the headers are then out of date.
        else if (isUninformed(bucket, at)) await ask(bucket, 0).catch(() => undefined);
      });
      await Promise.all(asked);
      const decided = decide(debitsOf(demands), now());
      if (decided) return decided;
    }
  }

  return {
    chargeNow,
    charge,
    waitMs(demands) {
      const at = now();
      return Math.max(0, ...unkeptDebitsOf(demands).map((debit) => debit.waitMs(at)));
    },
    forgetIdle() {
      const at = now();
      for (const [name, bucket] of buckets) if (isIdle(bucket, at) && !isPending(bucket)) buckets.delete(name);
    },
    async close() {
      await settled();
      const held = [...buckets.values()].filter((bucket) => bucket.open > 0);
      for (let first = 0; first < held.length; first += CLOSE_BATCH) {
        const at = now();
        const batch = held.slice(first, first + CLOSE_BATCH);
        for (const bucket of batch) bucket.open = 0;
        await ledger.exchange(
          process,
          at,
          batch.map((bucket) => toRequest(bucket, 0, 0, at)),
        );
      }
    },
  };
}
