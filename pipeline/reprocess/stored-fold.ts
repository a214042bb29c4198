/** The price fold over the stores instead of the topic: the same ticks, into one generation. */
import type { PoolClient } from 'pg';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { emptyView } from '../../processors/pricing/chain-view.ts';
import { createPriceFold, type PriceFold, type PricingRules } from '../../processors/pricing/price-fold.ts';
import type { StampRow } from '../../processors/pricing/stamp.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { checkFoldedChains } from '../price/folded-chains.ts';
import { nextTick } from '../price/next-tick.ts';
import { foldBatch, type PriceBatch } from '../price/price-batch.ts';
import type { ChainCursor, PriceChain } from '../price/price-chain.ts';
import { restoreState, restoreView } from '../price/restore.ts';
import { inSnapshot } from '../stage/snapshot.ts';
import { isStillThere, readBlocks, type StoredBlock } from './stored-blocks.ts';

/** Facts and prices are on different branches for the moment. */
export class ReprocessDisturbed extends RetryableError {
  constructor(what: string) {
    super('reprocess_disturbed', `${what}; the run continues from here once the price stage has caught up.`);
  }
}

export interface StoredFoldOptions {
  readonly postgres: Postgres;
  readonly generation: number;
  readonly chains: readonly PriceChain[];
  readonly rules: PricingRules;
  /** Whether blocks have their settled transfers; otherwise only unmatched ones get stamps, and `converted` lists the currencies. */
  readonly withSettled: boolean;
  readonly maxTicks: number;
  readonly maxQueued: number;
  readonly yieldToEventLoop: () => Promise<void> | undefined;
  /** Wraps the fold, to observe every tick. */
  readonly watch?: (fold: PriceFold) => PriceFold;
}

export interface StoredFold {
  /** Newest tick that was folded. */
  readonly tick: number;
  readonly cursors: readonly ChainCursor[];
  /** Stamps that may still change, as they were written before the first batch. */
  readonly open: readonly StampRow[];
  /** Folds the next batch, no further than `newest`. @throws ReprocessDisturbed, after which the fold must be opened again */
  next(newest: number): Promise<PriceBatch>;
}

const MAX_ROWS = 50_000;

/** Continues after `at`, the generation's newest tick. @throws ReprocessDisturbed, PriceChainMissing */
export async function openStoredFold(options: StoredFoldOptions, at: number): Promise<StoredFold> {
  const { postgres, generation, chains, rules, withSettled, maxTicks, maxQueued, yieldToEventLoop } = options;
  const { cursors, state } = await inSnapshot(postgres, async (client) => {
    await checkFoldedChains(client, chains);
    const cursors: ChainCursor[] = [];
    for (const chain of chains) cursors.push(await cursorAt(client, chain, at));
    const clocks = new Map(cursors.flatMap(({ chain, ticked }) => (ticked ? [[chain.name, ticked.clock]] : [])));
    return { cursors, state: await restoreState(client, generation, rules, clocks) };
  });
  const open = state.open.map(({ row }) => row);
  const created = createPriceFold(rules, state);
  const fold = options.watch?.(created) ?? created;
  let tick = at;

  /** Reads blocks even when queues are not empty: blocks of a single clock do not let other chains continue. */
  async function fill(client: PoolClient, isWanting: (cursor: ChainCursor) => boolean): Promise<void> {
    for (const cursor of cursors.filter(isWanting)) {
      const above = cursor.queue.at(-1)?.height ?? cursor.ticked?.height ?? -1;
      const blocks = await readBlocks(client, cursor.chain.name, above, maxQueued, withSettled);
      for (const block of blocks) cursor.queue.push(block);
    }
  }

  /** Waiting blocks may have been rewound without any tick to undo; blocks of other chains would still be priced by them. */
  async function checkQueues(client: PoolClient): Promise<void> {
    for (const { chain, queue } of cursors) {
      const last = queue.at(-1);
      if (last && !(await isStillThere(client, last as StoredBlock))) {
        throw new ReprocessDisturbed(`${chain.name} was rewound to before block ${last.height}`);
      }
    }
  }

  return {
    open,
    get tick() {
      return tick;
    },
    cursors,
    next: (newest) =>
      inSnapshot(postgres, async (client) => {
        await checkQueues(client);
        await fill(client, ({ queue }) => queue.length < maxQueued / 2);
        if (tick < newest && !nextTick(cursors)) await fill(client, () => true);
        const limits = { maxTicks: Math.min(maxTicks, newest - tick), maxRows: MAX_ROWS, maxQueued };
        const batch = await foldBatch(
          [{ generation, fold, backfillEnds: rules.regimes.backfillEnds }],
          cursors,
          tick + 1,
          limits,
          yieldToEventLoop,
        );
        await checkTicks(client, batch, tick, newest);
        tick += batch.ticks.length;
        return batch;
      }),
  };
}

const readCursor = rowReader({
  height: columns.number,
  hash: columns.text,
  clock: columns.bigint,
  derived: columns.nullable(columns.text),
});
const readTick = rowReader({ tick: columns.bigint, chain: columns.text, hash: columns.text });

async function cursorAt(client: PoolClient, chain: PriceChain, at: number): Promise<ChainCursor> {
  const row = await readRow(
    client,
    readCursor,
    `SELECT price_ticks.height, price_ticks.hash, price_ticks.clock, blocks.hash AS derived
     FROM price_ticks LEFT JOIN blocks USING (chain, height) WHERE chain = $1 AND tick <= $2 ORDER BY tick DESC LIMIT 1`,
    [chain.name, at],
  );
  const idle = { chain, queue: [], next: 0, readThrough: -1, isAtEnd: false, derivedHeight: null };
  if (!row) return { ...idle, ticked: null, view: emptyView(chain.name) };
  const { height, hash, clock, derived } = row;
  if (derived !== hash) throw new ReprocessDisturbed(`${chain.name} is being rewound below block ${height}`);
  return {
    ...idle,
    ticked: { height, hash, clock: Number(clock) },
    view: await restoreView(client, chain.name, height),
  };
}

/** The blocks must have the same ticks as in the fold of the served generation. */
async function checkTicks(client: PoolClient, { ticks }: PriceBatch, before: number, newest: number): Promise<void> {
  const rows = await readRows(
    client,
    readTick,
    'SELECT tick, chain, hash FROM price_ticks WHERE tick > $1 AND tick <= $2 ORDER BY tick',
    [before, before + Math.max(1, ticks.length)],
  );
  const isSame = ticks.every(({ tick, block }, index) => {
    const row = rows[index];
    return row !== undefined && Number(row.tick) === tick && row.chain === block.chain && row.hash === block.hash;
  });
  if (!isSame || (ticks.length === 0 && before < newest)) {
    throw new ReprocessDisturbed('The stores hold other blocks than those that prices were folded from');
  }
}
