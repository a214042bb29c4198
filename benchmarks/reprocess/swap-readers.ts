/** Readers like those of the service (one snapshot of both stores) while the served generation is swapped continuously. */

import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { SERVICE } from '../../api/access/priority-lanes.ts';
import { createCurrentState } from '../../api/state/current-state.ts';
import { createSnapshots } from '../../api/state/snapshot.ts';
import { createStateWatch } from '../../api/state/state-watch.ts';
import { openReader } from '../../infra/postgres/reader.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import { swapGenerations } from '../../pipeline/reprocess/candidate-generation.ts';

export interface SwapReaders {
  readonly quietP99Ms: number;
  readonly swappingP99Ms: number;
  readonly reads: number;
  readonly swaps: number;
  /** Number of answers in which the two stores returned different generations. */
  readonly mixed: number;
}

const readGeneration = rowReader({ generation: columns.number });
const readHeld = rowReader({ held: columns.number });
const READERS = 4;
const SWAP_EVERY_MS = 50;

/** Expects that generations 1 and 2 are ready, and that rows of each store carry their generation. */
export async function measureSwaps(stores: Stores, seconds: number): Promise<SwapReaders> {
  const stop = new AbortController();
  const logger = pino({ level: 'silent' });
  const scope = { release: 'bench', chains: new Set(['one']) };
  const watch = await createStateWatch(stores.postgres, scope, logger, stop.signal);
  const reader = openReader(stores.postgres, { maxConnections: READERS, statementMs: 10_000 });
  const currentState = createCurrentState(reader, watch);
  const snapshot = createSnapshots({ reader, watch, currentState, scope, atOnce: READERS + 2 })(SERVICE);
  let mixed = 0;
  const read = () =>
    snapshot(async ({ state, row }) => {
      const inPostgres = await row(readGeneration, 'SELECT generation FROM generations WHERE served');
      const [inClickHouse] = await stores.clickhouse.rows(
        readHeld,
        `SELECT any(generation) AS held, toString(sum(usd_value)) AS sum FROM conversions
         WHERE generation = {generation:UInt32} AND chain = 'one' AND import_height < 1000`,
        { generation: state.generation },
      );
      const generations = [inPostgres?.generation, inClickHouse?.held];
      if (generations.some((generation) => generation !== state.generation)) mixed++;
    });
  const reading = async (): Promise<number[]> => {
    const took: number[] = [];
    const end = performance.now() + seconds * 1000;
    const reader = async () => {
      while (performance.now() < end) {
        const began = performance.now();
        await read();
        took.push(performance.now() - began);
      }
    };
    await Promise.all(Array.from({ length: READERS }, reader));
    return took.sort((a, b) => a - b);
  };
  const p99 = (sorted: readonly number[]) => sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  await reading();
  const quiet = await reading();
  let swaps = 0;
  let isOver = false;
  const swapping = (async () => {
    while (!isOver) {
      await swapGenerations(stores.postgres, swaps % 2 === 0 ? 'newer' : 'older');
      swaps++;
      await sleep(SWAP_EVERY_MS);
    }
  })();
  const during = await reading();
  isOver = true;
  await swapping;
  stop.abort();
  await watch.stop();
  await reader.close();
  return { quietP99Ms: p99(quiet), swappingP99Ms: p99(during), reads: during.length, swaps, mixed };
}
