/** One of the daemon's methods, answered from the stores beside what the daemon said. */
import type { Stores } from '../../infra/stores.ts';

export interface Ours extends Pick<Stores, 'postgres' | 'clickhouse'> {
  readonly chain: string;
}

export interface ComparedAnswer {
  readonly asked: string;
  /** Canonical texts. */
  readonly expected: string;
  readonly ours: string;
}

export interface EqualityComparison {
  readonly method: string;
  /** What the recording has no answer for. */
  readonly unsettled?: readonly string[];
  answers(ours: Ours): AsyncGenerator<ComparedAnswer>;
}
