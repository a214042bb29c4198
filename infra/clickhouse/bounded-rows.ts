/** Reads the rows of an answer up to a limit on the bytes of its text. */
import type { Row } from '@clickhouse/client';
import { PermanentError } from '../../schemas/errors.ts';
import { createPace, restsOf } from '../pace.ts';
import type { StoredRow } from '../row-reader.ts';

export class ClickHouseAnswerTooLarge extends PermanentError {
  constructor(mostBytes: number) {
    super('clickhouse_answer_too_large', `the answer is larger than ${mostBytes / 2 ** 20} MiB`);
  }
}

const pace = createPace({ sliceMs: 5, restMs: 0 });

/**
 * Reads at most `mostBytes`, with pauses for other work of the process. After `signal` aborts, it drops the remaining rows but reads to the
 * end, so that the statement has ended too; `late` stops reading at once. @throws ClickHouseAnswerTooLarge, the reason of the signal
 */
export async function readBounded(
  pieces: AsyncIterable<readonly Row<StoredRow>[]>,
  mostBytes: number,
  { signal, late }: { readonly signal: AbortSignal; readonly late: AbortSignal },
): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  let bytes = 0;
  const rests = restsOf(pace);
  for await (const piece of pieces) {
    await rests();
    late.throwIfAborted();
    if (signal.aborted) continue;
    for (const row of piece) {
      bytes += Buffer.byteLength(row.text);
      if (bytes > mostBytes) throw new ClickHouseAnswerTooLarge(mostBytes);
      rows.push(row.json());
    }
  }
  signal.throwIfAborted();
  return rows;
}
