/** Findings of `check`, one line each. */

import { withTimeLimit } from '../../infra/time-limit.ts';
import { messageOf, VerustreamError } from '../../schemas/errors.ts';

export type FindingLevel = 'right' | 'note' | 'wrong';

export interface Finding {
  /** Subject of the check: `daemon vrsc 1`, `Postgres`. */
  readonly subject: string;
  /** `note`: the service runs, but the operator should know. */
  readonly verdict: FindingLevel;
  readonly says: string;
  /** Remedy; null if there is nothing to do. */
  readonly mend: string | null;
}

/** Findings of one subject. */
export function findingsOf(subject: string) {
  return {
    right: (says: string): Finding => ({ subject, verdict: 'right', says, mend: null }),
    note: (says: string, mend: string | null = null): Finding => ({ subject, verdict: 'note', says, mend }),
    wrong: (says: string, mend: string): Finding => ({ subject, verdict: 'wrong', says, mend }),
    /** Appends the code of verustream's own errors; other errors only have a message. */
    failed: (error: unknown, mend: string): Finding => {
      const said = messageOf(error);
      const code = error instanceof VerustreamError ? ` (${error.code})` : '';
      return { subject, verdict: 'wrong', says: `${said.replace(/\s+/g, ' ').replace(/[.?]$/, '')}${code}`, mend };
    },
  };
}

/** @throws Error when `work` has not ended after this time; `work` may continue */
export function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  return withTimeLimit(work, seconds * 1000, () => new Error(`no answer within ${seconds} s`));
}
