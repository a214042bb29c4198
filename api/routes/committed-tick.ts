/** ClickHouse may be a batch ahead of what is committed; rows of `price` up to this tick are not. */
import type { Snapshot } from '../state/snapshot.ts';

export async function committedTick(read: Snapshot): Promise<string> {
  const row = await read.row<{ tick: bigint | null }>('SELECT max(tick) AS tick FROM price_ticks');
  return String(row?.tick ?? 0n);
}
