/** The mempools that this process follows, by chain. */
import type { MempoolSource } from '../../schemas/mempool.ts';
import { ApiError } from '../http/api-error.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { createJournal, type LookStatus, type MempoolJournal } from './journal.ts';

export interface Mempools {
  /** The journal of a followed mempool, even before its first look; undefined if the mempool is not followed. */
  of(chain: string): MempoolJournal | undefined;
  /** @throws ApiError mempool_unknown before the first look */
  known(chain: string): MempoolJournal & { readonly last: LookStatus };
  all(): Iterable<MempoolJournal>;
  close(): Promise<void>;
}

/** Reads a mempool again whenever its chain's index moves: mined transactions leave the journal when their block is served. */
export function followMempools(sources: ReadonlyMap<string, MempoolSource>, watch: StateWatch): Mempools {
  const journals = new Map<string, MempoolJournal>();
  for (const [chain, source] of sources) {
    const journal = createJournal(chain);
    journals.set(chain, journal);
    source.follow(journal.record);
  }
  const tips = new Map<string, string>();
  const unfollow = watch.onMove(() => {
    for (const [chain, source] of sources) {
      const hash = watch.state.derived.get(chain)?.hash ?? '';
      if (tips.get(chain) !== hash) source.wake();
      tips.set(chain, hash);
    }
  });
  return {
    of: (chain) => journals.get(chain),
    known(chain) {
      const journal = journals.get(chain);
      if (journal?.last) return journal as MempoolJournal & { readonly last: LookStatus };
      throw new ApiError('mempool_unknown', `the mempool of ${chain} has not been read yet`);
    },
    all: () => journals.values(),
    async close() {
      unfollow();
      await Promise.all([...sources.values()].map((source) => source.close()));
    },
  };
}
