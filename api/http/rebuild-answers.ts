/**
 * Rebuilds the prepared answers that are in demand when the state has moved, so that the next request finds them. Requests that arrive
 * meanwhile share this work; answers without recent requests are not rebuilt.
 */
import type { Logger } from '../../infra/logger.ts';
import { pause } from '../../infra/repeat-until.ts';
import type { WorkOwner } from '../access/priority-lanes.ts';
import type { ApiContext } from '../api-context.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { freshAnswer, type StateAnswer, tagOf } from './answer-route.ts';
import type { RequestsUnderWay } from './exchange.ts';
import type { Demanded, PreparedAnswers } from './prepared-answers.ts';

export interface RebuildOptions {
  readonly api: ApiContext;
  readonly apiOf: (owner: WorkOwner) => ApiContext;
  readonly prepared: PreparedAnswers<StateAnswer>;
  readonly watch: Pick<StateWatch, 'state' | 'onMove'>;
  readonly underWay: RequestsUnderWay;
  readonly logger: Logger;
}

export interface Rebuilding {
  /** Resolves once no answer is being rebuilt. */
  stop(): Promise<void>;
}

/** Two blocks of a chain with a block a minute: a client that asks at every block keeps its answers warm. */
const LATELY_MS = 120_000;
const MOST_ANSWERS = 100;
/** Maximum of answers that only one caller requests: of more, only the most recently requested are rebuilt. */
const MOST_OF_ONE = 20;
const DEMAND = { milliseconds: LATELY_MS, most: MOST_ANSWERS, mostOfOne: MOST_OF_ONE };
/** Minimum time from the start of one round to the start of the next, for blocks that arrive faster. */
const ROUND_MS = 1000;
/** Answers are rebuilt one at a time, while fewer requests than this wait for a store or a daemon: so no request waits for a rebuild. */
const QUIET_REQUESTS = 3;
const BUSY_MS = 20;

export function rebuildAnswers({ api, apiOf, prepared, watch, underWay, logger }: RebuildOptions): Rebuilding {
  const stopping = new AbortController();
  const { signal } = stopping;
  let moved = false;
  let rounds: Promise<void> | null = null;

  async function quiet(): Promise<void> {
    await pause(0, signal);
    while (!signal.aborted && underWay.count - underWay.sending >= QUIET_REQUESTS) await pause(BUSY_MS, signal);
  }

  async function rebuild({ key, answer: { route, params }, owner }: Demanded<StateAnswer>): Promise<void> {
    const isCurrent = () => prepared.latest(key)?.tag === tagOf(api, route, params, watch.state);
    if (isCurrent()) return;
    await quiet();
    if (signal.aborted || isCurrent()) return;
    const tag = tagOf(api, route, params, watch.state);
    await prepared.make(key, tag, (maker) => freshAnswer(apiOf(maker), route, params), owner);
  }

  async function runRounds(): Promise<void> {
    while (moved && !signal.aborted) {
      moved = false;
      const began = performance.now();
      for (const demanded of prepared.demanded(DEMAND)) {
        await rebuild(demanded).catch((err: unknown) => {
          logger.warn(
            { err, route: demanded.answer.route.path },
            'a prepared answer could not be rebuilt; the next request for it gets the error',
          );
        });
      }
      await pause(began + ROUND_MS - performance.now(), signal);
    }
    rounds = null;
  }

  const ignore = watch.onMove(() => {
    moved = true;
    rounds ??= runRounds();
  });
  return {
    async stop() {
      stopping.abort();
      ignore();
      await rounds;
    },
  };
}
