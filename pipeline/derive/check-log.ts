/** Checks that the log is the one that the stores were built from. */
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { StagePosition } from '../../infra/postgres/stage-positions.ts';
import { readBlocksRecord } from '../../schemas/log-codec.ts';
import { LogBehindStores, LogDiffers, LogEmpty } from './derive-errors.ts';

/** @throws LogEmpty (retryable), LogBehindStores, LogDiffers */
export async function checkLog(log: EventLog, chain: string, committed: StagePosition | null): Promise<void> {
  if (!committed) return;
  const last = await log.last('blocks', chain);
  if (!last) throw new LogEmpty(chain, committed.position);
  const [found] = await log.read('blocks', chain, committed.position, { maxRecords: 1, maxBytes: 1 });
  if (!found) throw new LogBehindStores(chain, committed.position, last.position);
  const { height, hash } = readBlocksRecord(found.payload);
  if (height === committed.height && hash === committed.hash) return;
  throw new LogDiffers(
    `Record ${committed.position} of ${chain} is block ${height} ${hash}, but the stores hold ${committed.height} ${committed.hash} for it.`,
  );
}
