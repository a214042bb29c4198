/** Undoes ticks that are no longer valid: after a rewind of a chain, or to make room for a chain that was added. */
import type { PoolClient } from 'pg';
import { passRecord } from '../../infra/postgres/stage-positions.ts';
import type { FactsRewound } from '../../schemas/log-records.ts';
import { clearRuns } from './ahead-runs.ts';
import { deleteFrom } from './clickhouse-prices.ts';
import { readGenerations } from './generations.ts';
import { keptBlocks } from './kept-prices.ts';
import { forgetShown } from './postgres-ahead.ts';
import { firstInvalidTick, firstTickFrom, newestHeight, undoFrom } from './postgres-prices.ts';
import type { ChainCursor } from './price-chain.ts';
import { type PriceState, reload } from './price-state.ts';
import { refillPrices } from './refill-prices.ts';
import type { RewoundChain } from './stamps-publisher.ts';

/** Undoes all ticks from the first invalid one on, and reads the records after it again. */
export async function rewind(
  state: PriceState,
  cursor: ChainCursor,
  { height, hash, position, fromHeight }: FactsRewound,
): Promise<void> {
  const { stores, publisher, logger } = state.options;
  const { name } = cursor.chain;
  state.reader.rewound(name, position, height);
  const rewound = { chain: name, height, hash, position };
  const kept = cursor.queue.findLast((block) => block.height <= height);
  const clock = kept?.clock ?? (cursor.ticked && cursor.ticked.height <= height ? cursor.ticked.clock : null);
  if (cursor.next > position) cursor.readThrough = Math.max(cursor.readThrough, position);
  const untrue = await stores.postgres.transaction((client) => firstInvalidTick(client, name, height, clock));
  if (untrue === null) {
    cursor.queue = cursor.queue.filter((block) => block.height <= height);
    state.ahead.rewound(name, height);
    await publisher?.publishRewind(rewound);
    return;
  }
  logger.info({ chain: name, height, fromHeight }, 'price: rewinds');
  await undo(state, untrue, rewound);
}

/** Passes a rewind that was found ahead of the cursor and applied then. */
export function passKnown(cursor: ChainCursor, { height, position }: FactsRewound): void {
  cursor.readThrough = Math.max(cursor.readThrough, position);
  cursor.queue = cursor.queue.filter((block) => block.height <= height);
}

/** Applies a rewind found beyond the chain's cursor: it also removes the records in between. */
export async function rewindFound(state: PriceState): Promise<boolean> {
  const found = state.ahead.takeFound();
  const cursor = state.cursors.find(({ chain }) => chain.name === found?.chain);
  if (!found || !cursor) return false;
  const { height, position } = found.rewind;
  const newest = cursor.queue.at(-1) ?? cursor.ticked;
  if (height < (newest?.height ?? -1)) cursor.next = Math.max(cursor.next, position + 1);
  await rewind(state, cursor, found.rewind);
  return true;
}

/** A chain that is configured later is folded as if it had always been there: results never depend on when it was added. */
export async function makeRoom(state: PriceState, { chain, queue }: ChainCursor): Promise<void> {
  const { stores, logger } = state.options;
  const first = await stores.postgres.transaction((client) => firstTickFrom(client, queue[0]?.clock ?? 0));
  if (first === null) return;
  logger.info({ chain: chain.name }, 'price: a chain was added; folding prices again from its first block on');
  await undo(state, first, null);
}

/** Undoes the ticks from `first` on in both stores, and passes the rewind in the same commit. Published stamps are retracted afterwards. */
async function undo(state: PriceState, first: number, rewound: RewoundChain | null): Promise<void> {
  const { stores, lock, publisher, logger } = state.options;
  await lock.transaction(async (client) => {
    await deleteFrom(stores.clickhouse, first);
    await undoFrom(client, first);
    await forgetShown(client);
    await clearRuns(client);
    if (rewound) await passRecord(client, 'price', rewound.chain, rewound.height, rewound.position);
    await refill(client, state);
  });
  const newestTick = state.tick;
  await publisher?.publishRewind(rewound);
  await reload(state);
  logger.info({ firstTick: first, newestTick }, 'price: ticks undone');
}

/** Rewinds are rare, so pruned rows are restored after each one, which also covers two rewinds in a row. */
async function refill(client: PoolClient, { cursors, options }: PriceState): Promise<void> {
  const chain = cursors[0]?.chain;
  if (!chain) return;
  const height = await newestHeight(client, chain.name);
  for (const { generation } of await readGenerations(client)) {
    const first = height - keptBlocks(chain);
    await refillPrices(client, options.stores.clickhouse, generation, chain.name, first);
  }
}
