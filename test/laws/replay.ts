/** Runs derive over a prepared log, with crashes where a test plans them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { Stores } from '../../infra/stores.ts';
import { type DeriveOptions, runDerive } from '../../pipeline/derive/run-derive.ts';
import type { CrashPoint } from '../../pipeline/stage/crash-point.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { encodeBlocksRecord } from '../../schemas/log-codec.ts';
import { placed, type UnplacedRecord } from './chain-records.ts';

export const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';

export function chainConfig(name: string): ChainConfig {
  return {
    name,
    rpc: 'http://127.0.0.1:1',
    rootCurrency: 'VRSCTEST',
    networkRoot: 'VRSCTEST',
    stableAnchors: [],
    blockSeconds: 60,
    finalityDepth: 100,
    minBasketAge: 20,
    requireEmptyWallet: false,
  };
}

export interface TestLog extends EventLog {
  append(chain: string, records: readonly UnplacedRecord[]): Promise<void>;
  /** Closes it and removes its folder. */
  drop(): Promise<void>;
}

export async function createTestLog(): Promise<TestLog> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-law-'));
  const log = createEmbeddedEventLog({ folder });
  return {
    ...log,
    async append(chain, records) {
      const writer = await log.openWriter('blocks', chain);
      const start = writer.next;
      const positions = placed(records).map((record) => ({ ...record, position: record.position + start }));
      await writer.append(
        positions.map((record) => ({ position: record.position, payload: encodeBlocksRecord(record) })),
      );
      await writer.close();
    },
    async drop() {
      await log.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export class SimulatedCrash extends Error {
  override name = 'SimulatedCrash';
}

type Replay = Pick<DeriveOptions, 'log' | 'stores'> &
  Partial<Pick<DeriveOptions, 'batch' | 'crashPoint' | 'nativeCurrencyId' | 'probe'>>;

const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

/** Runs derive until it reaches the end of the log. */
export async function deriveToEnd(chain: string, options: Replay): Promise<void> {
  const end = new AbortController();
  await runDerive({
    chain: chainConfig(chain),
    nativeCurrencyId: NATIVE,
    logger,
    signal: end.signal,
    status: ({ state }) => {
      if (state === 'following') end.abort();
    },
    ...options,
  });
}

/** A crash at the n-th passing of a point, counted from the crash of the previous run. */
export interface PlannedCrash {
  readonly point: CrashPoint;
  readonly passing: number;
}

/** Restarts derive after each crash; a crash whose point is not passed often enough does not happen. */
export async function deriveWithCrashes(
  chain: string,
  options: Omit<Replay, 'crashPoint'>,
  crashes: readonly PlannedCrash[],
): Promise<number> {
  let happened = 0;
  for (const { point, passing } of crashes) {
    let left = passing;
    try {
      await deriveToEnd(chain, {
        ...options,
        crashPoint: (passed) => {
          if (passed === point && --left < 0) throw new SimulatedCrash(point);
        },
      });
    } catch (error) {
      if (!(error instanceof SimulatedCrash)) throw error;
      happened += 1;
    }
  }
  await deriveToEnd(chain, options);
  return happened;
}

export async function withStores<T>(open: () => Promise<Stores>, work: (stores: Stores) => Promise<T>): Promise<T> {
  const stores = await open();
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}
