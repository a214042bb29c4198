/** Checks several times a second whether each chain is ready, so that health requests wait for no store and no daemon. */
import { metrics } from '../../infra/metrics.ts';
import { pause } from '../../infra/repeat-until.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { causesOf, type HealthCause, priceNotes, publisherNotes, type UnreadyReason } from './chain-causes.ts';
import { createStandingCauses, type StandingReason } from './standing-causes.ts';
import type { StateWatch } from './state-watch.ts';
import type { StoreFault } from './store-health.ts';

export interface Health {
  /** Why a chain, or with null any chain, is not ready; empty when it is ready. Faults of the stores concern every chain. */
  reasons(chain: string | null): readonly StandingReason[];
  /** Notes worth knowing that do not make a chain unready. */
  notes(chain: string | null): readonly UnreadyReason[];
  stop(): Promise<void>;
}

export interface HealthOptions {
  readonly chains: readonly ChainConfig[];
  readonly watch: Pick<StateWatch, 'state' | 'statuses'>;
  readonly storeFaults: () => Promise<readonly StoreFault[]>;
  readonly timing?: HealthTiming;
}

export interface HealthTiming {
  /** Milliseconds between two reads of the stages' status. */
  readonly everyMs?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

const EVERY_MS = 250;
const STORES_EVERY_MS = 1000;

/** Resolves after the first probe of the stores. */
export async function watchHealth({ chains, watch, storeFaults, timing = {} }: HealthOptions): Promise<Health> {
  const standing = createStandingCauses(timing.now);
  const shown = new Map<string, Record<'chain' | 'stage' | 'code' | 'cause', string>>();
  let faults = await storeFaults();
  const stopped = new AbortController();

  function look(): void {
    const { state, statuses } = watch;
    const ofChains = chains.flatMap((chain) => {
      const derived = state.derived.get(chain.name)?.height ?? null;
      const priced = state.priced.get(chain.name)?.height ?? null;
      return causesOf(chain, { statuses, derived, priced }, Date.now());
    });
    // While Postgres is faulty the stages cannot write heartbeats, so their silence means nothing.
    const isMute = faults.some(({ code }) => code.startsWith('postgres_'));
    const heard = ofChains.filter(({ reason }) => !isMute || reason.code !== 'not_reporting');
    standing.look([...faults.map(storeCause), ...heard]);
    show();
  }

  function reasons(chain: string | null): readonly StandingReason[] {
    return standing.reasons().filter((reason) => concerns(chain, reason));
  }

  /** Sets the metrics. A reason that has ended stays at 0, so that alerts see it end. */
  function show(): void {
    for (const { name: chain } of chains) metrics.ready.set({ chain }, reasons(chain).length === 0 ? 1 : 0);
    for (const labels of shown.values()) metrics.unready.set(labels, 0);
    for (const { chain, stage, code, cause } of standing.reasons()) {
      const labels = { chain: chain ?? '', stage: stage ?? '', code, cause: cause ?? '' };
      metrics.unready.set(labels, 1);
      shown.set(Object.values(labels).join(), labels);
    }
    const waits = new Set(priceNotes(chains, watch.statuses).map(({ chain }) => chain));
    for (const { name: chain } of chains) metrics.priceWaits.set({ chain }, waits.has(chain) ? 1 : 0);
  }

  function notes(chain: string | null): readonly UnreadyReason[] {
    const all = [...priceNotes(chains, watch.statuses), ...publisherNotes(chains, watch.statuses)];
    return all.filter((note) => concerns(chain, note));
  }

  async function followStores(): Promise<void> {
    const { signal } = stopped;
    while (!signal.aborted) {
      await pause(STORES_EVERY_MS, signal, false);
      if (!signal.aborted) faults = await storeFaults();
    }
  }

  look();
  const timer = setInterval(look, timing.everyMs ?? EVERY_MS).unref();
  const following = followStores();
  return {
    reasons,
    notes,
    async stop() {
      stopped.abort();
      clearInterval(timer);
      await following;
    },
  };
}

function concerns(chain: string | null, reason: UnreadyReason): boolean {
  return chain === null || reason.chain === null || reason.chain === chain;
}

function storeCause({ code, detail, store }: StoreFault): HealthCause {
  const reason = { code, chain: null, stage: null, cause: null, detail, etaSeconds: null };
  return { subject: store, reason, passes: false };
}
