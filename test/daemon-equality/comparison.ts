/** Compares answers of one daemon method with answers computed from the stores. */
import type { Stores } from '../../infra/stores.ts';

export interface Ours extends Pick<Stores, 'postgres' | 'clickhouse'> {
  readonly chain: string;
  /** i-address of the chain's own currency. */
  readonly native: string;
  /** Name of the network's first currency. */
  readonly root: string;
}

export interface ComparedAnswer {
  readonly asked: string;
  /** Canonical texts. */
  readonly expected: string;
  readonly ours: string;
}

export interface EqualityComparison {
  readonly method: string;
  /** Cases for which the recording has no answer. */
  readonly unsettled?: readonly string[];
  answers(ours: Ours): AsyncGenerator<ComparedAnswer>;
}
