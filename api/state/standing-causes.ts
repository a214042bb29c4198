/**
 * Tracks how long causes last. A cause counts at once or, if it often passes by itself, after 3 s; it ends only after it has been gone for 10 s
 * in a row. So a flapping daemon is reported once, not ten times.
 */
import type { HealthCause, UnreadyReason } from './chain-causes.ts';

export interface StandingReason extends UnreadyReason {
  /** When its cause went away, ISO 8601; null while it lasts. */
  readonly goneSince: string | null;
}

export interface StandingCauses {
  /** Records the current causes. */
  look(causes: readonly HealthCause[]): void;
  /** Reasons as of the last look(). */
  reasons(): readonly StandingReason[];
}

const MOMENT_MS = 3_000;
const GONE_MS = 10_000;

interface Standing {
  cause: HealthCause;
  /** Milliseconds of `now()`. */
  readonly since: number;
  counts: boolean;
  goneSince: { readonly ms: number; readonly iso: string } | null;
}

/** `now`: milliseconds, monotonic. */
export function createStandingCauses(now: () => number = () => performance.now()): StandingCauses {
  const standing = new Map<string, Standing>();
  let isFirst = true;

  return {
    look(causes) {
      const at = now();
      const bySubject = new Map(causes.map((cause) => [cause.subject, cause]));
      for (const [subject, cause] of bySubject) {
        // At the first look a cause may have lasted for long already, so it counts at once.
        const since = isFirst ? Number.NEGATIVE_INFINITY : at;
        const known = standing.get(subject) ?? { cause, since, counts: false, goneSince: null };
        known.cause = cause;
        known.goneSince = null;
        known.counts ||= !cause.passes || at - known.since >= MOMENT_MS;
        standing.set(subject, known);
      }
      for (const [subject, known] of standing) {
        if (bySubject.has(subject)) continue;
        known.goneSince ??= { ms: at, iso: new Date().toISOString() };
        if (!known.counts || at - known.goneSince.ms >= GONE_MS) standing.delete(subject);
      }
      isFirst = false;
    },
    reasons() {
      const counting = [...standing.values()].filter(({ counts }) => counts);
      return counting.map(({ cause, goneSince }) => ({ ...cause.reason, goneSince: goneSince?.iso ?? null }));
    },
  };
}
