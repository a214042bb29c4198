/**
 * How many records the appends of a partition have acknowledged, in a file next to the log file. SQLite takes a damaged end
 * of its write-ahead log for a commit that never was; with this mark the loss is noticed instead of written over.
 * It is written after the commit and not flushed: after a power failure it may be too low, but never too high.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

export interface AcknowledgedMark {
  /** 0 when there is none yet or it is unreadable: then it proves nothing. */
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
      // Always the same length, so that a full disk does not stop it.
      writeSync(descriptor, String(records).padStart(DIGITS, '0'), 0);
    },
    close: () => closeSync(descriptor),
  };
}
