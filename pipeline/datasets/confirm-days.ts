/**
 * Confirms files of closed days that were read while the stages went on: ClickHouse has no transactions, so rows that a rewind is about to
 * revert may be missing in them. docs/decisions/0089-data-set.md
 */
import type { Stores } from '../../infra/stores.ts';
import type { DatasetFile } from '../../schemas/datasets/manifest.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { isNotAtRest, ownedStages, pauseStages, type Writer } from '../stage/pause-stages.ts';
import { pricedState, unchangedDays } from './export-state.ts';
import { type Task, taskOf } from './tasks.ts';

export interface WrittenTask {
  readonly task: Task;
  /** Null for a day without rows. */
  readonly file: Omit<DatasetFile, 'url'> | null;
}

export interface Confirmation {
  /** Returns the files whose content is right. */
  confirmed(written: readonly WrittenTask[]): Promise<WrittenTask[]>;
}

type Postgres = Stores['postgres'];

/** A stage may be in the middle of a batch that takes some seconds; only a deep rewind takes longer. */
const PATIENCE = '30s';
const LONGEST = '60s';

/** Call it before the state of the stores is read. */
export async function openConfirmation(postgres: Postgres, chains: readonly { name: string }[]): Promise<Confirmation> {
  const writers: Writer[] = [PRICE, ...chains.map(({ name }) => deriveOf(name))];
  const owned = new Set((await ownedStages(postgres.pool, writers)).map(keyOf));
  return {
    async confirmed(written) {
      const groups = Map.groupBy(written, ({ task }) => keyOf(writerOf(task)));
      const all: WrittenTask[] = [];
      for (const [key, group] of groups) all.push(...(await confirmGroup(postgres, group, owned.has(key))));
      return all;
    },
  };
}

const PRICE: Writer = { stage: 'price', chain: ALL_CHAINS };
const deriveOf = (chain: string): Writer => ({ stage: 'derive', chain });
const keyOf = (writer: Writer | null): string => (writer ? `${writer.stage} ${writer.chain}` : 'none');

/** The stage that changes the rows in ClickHouse; null for rows of Postgres, which shows only committed rows. */
function writerOf({ table, day }: Task): Writer | null {
  if (table.store === 'postgres') return null;
  return table.store === 'prices' ? PRICE : deriveOf(day.chain);
}

/** All tasks have the same writer, which pauses once for all of them, only during the comparison. */
async function confirmGroup(
  postgres: Postgres,
  group: readonly WrittenTask[],
  wasOwned: boolean,
): Promise<WrittenTask[]> {
  const [first] = group;
  const writer = first ? writerOf(first.task) : null;
  try {
    return await postgres.transaction(async (client) => {
      const isOwned = writer ? await pauseStages(client, [writer], LONGEST, PATIENCE) : wasOwned;
      // The stage's owner has ended in the meantime, perhaps in the middle of a rewind that the next owner repeats.
      if (wasOwned && !isOwned) return [];
      const unchanged = await unchangedDays(
        client,
        group.map(({ task }) => task.day),
      );
      const priced = writer === PRICE ? await pricedState(client) : null;
      return group.filter(({ task }) => {
        if (!unchanged.has(task.day)) return false;
        return priced === null || taskOf(task.table, task.whole, priced)?.basis === task.basis;
      });
    });
  } catch (error) {
    if (isNotAtRest(error)) return [];
    throw error;
  }
}
