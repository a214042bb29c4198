/** A tailer with short waits, and ways to wait for its status. */
import { pino } from 'pino';
import type { EventLog } from '../../../../infra/event-log/event-log.ts';
import { createVerusdClient } from '../../../../infra/verusd/verusd-client.ts';
import { runTailer, type TailerOptions } from '../../../../pipeline/tailer/run-tailer.ts';
import type { ChainConfig } from '../../../../schemas/config.ts';
import type { StageStatus } from '../../../../schemas/stage-status.ts';

export const CHAIN = 'vrsc';
/** Tests with a daemon that hangs shorten it; otherwise it is long, because a busy machine may answer slowly. */
export const CALL_TIMEOUT_MS = 60_000;

export function chainConfig(rpc: string, finalityDepth: number, rootCurrency = 'VRSCTEST'): ChainConfig {
  return {
    name: CHAIN,
    rpc,
    rootCurrency,
    networkRoot: rootCurrency,
    stableAnchors: [],
    blockSeconds: 60,
    finalityDepth,
    minBasketAge: 0,
    requireEmptyWallet: false,
  };
}

export interface RunningTailer {
  readonly statuses: readonly StageStatus[];
  /** Resolves with the newest status or a later one that satisfies `when`. Rejects if the tailer ends first. */
  shows(when: (status: StageStatus) => boolean): Promise<StageStatus>;
  /** Aborts the tailer and waits for its end; rejects with its error. */
  stop(): Promise<void>;
  /** The promise of runTailer. */
  readonly done: Promise<void>;
}

export interface TailerTestOptions extends Partial<TailerOptions> {
  readonly finalityDepth?: number;
  readonly rootCurrency?: string;
}

export function startTailer(
  daemon: { readonly rpc: string },
  log: EventLog,
  options: TailerTestOptions = {},
): RunningTailer {
  const { finalityDepth = 10, rootCurrency, callTimeoutMs = CALL_TIMEOUT_MS, ...overrides } = options;
  const chain = chainConfig(daemon.rpc, finalityDepth, rootCurrency);
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const client = createVerusdClient({ rpc: daemon.rpc, chain: chain.name, logger });
  const controller = new AbortController();
  const statuses: StageStatus[] = [];
  const watchers = new Set<() => void>();
  const done = runTailer({
    chain,
    client,
    log,
    logger,
    signal: controller.signal,
    pollMs: 5,
    retry: { minMs: 1, maxMs: 20 },
    callTimeoutMs,
    ...overrides,
    status(status) {
      statuses.push(status);
      for (const watch of watchers) watch();
    },
  }).finally(() => client.close());
  done.catch(() => undefined); // handled by stop(), shows() or the test

  return {
    statuses,
    done,
    async shows(when) {
      let watch = (): void => {};
      const shown = new Promise<StageStatus>((resolve) => {
        watch = () => {
          const status = statuses.at(-1);
          if (status && when(status)) resolve(status);
        };
        watchers.add(watch);
        watch();
      });
      const ended = done.then(() => {
        throw new Error(`the tailer ended in state ${statuses.at(-1)?.state}`);
      });
      try {
        return await Promise.race([shown, ended]);
      } finally {
        watchers.delete(watch);
      }
    },
    async stop() {
      controller.abort();
      await done;
    },
  };
}
