/**
 * A process that appends to a log until its storage fails, then removes the ballast file and repeats the append.
 * Arguments: folder, ballast file. Prints a FillReport as JSON.
 */
import { rmSync } from 'node:fs';
import { createEmbeddedEventLog } from '../../../../../infra/event-log/embedded/embedded-event-log.ts';
import { VerustreamError } from '../../../../../schemas/errors.ts';
import { isTestRecord, testRecords } from '../test-records.ts';

export interface FillReport {
  /** Code and message of the first failure. */
  readonly code: string;
  readonly message: string;
  /** `next` of the writer when it failed; 0 if the log could not be opened. */
  readonly acknowledged: number;
  /** Records in the log after the failure, all intact. */
  readonly held: number;
  /** `next` after the ballast was removed and the append repeated; null if that failed too. */
  readonly afterwards: number | null;
}

const ALL = { maxRecords: 1_000_000, maxBytes: 1_000_000_000 };
const [folder = '', ballast = ''] = process.argv.slice(2);
let acknowledged = 0;

async function appendUntilFailure(): Promise<VerustreamError> {
  try {
    for (;;) {
      await writer.append(testRecords(writer.next, 50));
      acknowledged = writer.next;
    }
  } catch (error) {
    if (error instanceof VerustreamError) return error;
    throw error;
  }
}

function report(error: VerustreamError, held: number, afterwards: number | null): void {
  const { code, message } = error;
  process.stdout.write(JSON.stringify({ code, message, acknowledged, held, afterwards } satisfies FillReport));
}

const log = createEmbeddedEventLog({ folder });
const writer = await log.openWriter('blocks', 'vrsc').catch((error: VerustreamError) => {
  report(error, 0, null);
  process.exit();
});
const failure = await appendUntilFailure();
const held = await log.read('blocks', 'vrsc', 0, ALL);
if (!held.every(isTestRecord)) throw new Error('a record is not what was written');
rmSync(ballast);
const again = await writer.append(testRecords(writer.next, 50)).then(
  () => writer.next,
  () => null,
);
report(failure, held.length, again);
