/**
 * Number of acknowledged records of a partition, in a file next to the log file. SQLite treats a damaged end of its write-ahead log as
 * a commit that never happened; this mark detects the loss before the records are overwritten. The mark is written after the commit and
 * not flushed: after a power failure it may be too low, but never too high.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

export interface AcknowledgedMark {
  /** Returns 0 if there is no mark yet or it is unreadable; 0 proves nothing. */
  read(): number;
  write(records: number): void;
  close(): void;
}

const DIGITS = 16;

export function openAcknowledgedMark(file: string): AcknowledgedMark {
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o644);
  return {
    read() {
      const text = Buffer.alloc(DIGITS);
      const length = readSync(descriptor, text, 0, DIGITS, 0);
      return length === DIGITS && /^\d+$/.test(text.toString()) ? Number(text.toString()) : 0;
    },
    write(records) {
      // The length never changes, so that the write succeeds on a full disk.
      writeSync(descriptor, String(records).padStart(DIGITS, '0'), 0);
    },
    close: () => closeSync(descriptor),
  };
}
