/** The log in a data folder: one SQLite file per partition and one writing process. Used by default and in tests. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { getOrInsert } from '../../../domain/get-or-insert.ts';
import type { Topic } from '../../../schemas/log-records.ts';
import type { ExclusiveFile } from '../../exclusive-file.ts';
import { createPace } from '../../pace.ts';
import { createWakeUp } from '../../wake-up.ts';
import type { EventLog, LogRecord, LogWriter } from '../event-log.ts';
import { LogClosed, LogWriterFenced } from '../log-errors.ts';
import { partitionName } from '../partition.ts';
import { lockFolder } from './folder-lock.ts';
import type { PackedGroup } from './log-rows.ts';
import { createPartitionFile, type PartitionFile } from './partition-file.ts';
import { withStorageErrors } from './storage-errors.ts';

interface Partition {
  readonly name: string;
  readonly file: PartitionFile;
  /** The writer that may append; opening a newer writer replaces it. */
  writer: LogWriter | null;
}

/** Poll interval for appends of another process; appends of this log wake waiting readers at once. */
const POLL_MS = 100;
/** Poll interval while this log holds the lock of the folder, when no other process can append. */
const OWN_POLL_MS = 5_000;
/** Packing many records yields to other work at this interval. */
const PACKING_MS = 2;

/** Creates `folder` if it is missing. The folder is locked from the first openWriter until close. */
export function createEmbeddedEventLog({ folder }: { readonly folder: string }): EventLog {
  const partitions = new Map<string, Partition>();
  const appended = createWakeUp();
  let lock: ExclusiveFile | null = null;
  let closed = false;
  withStorageErrors(folder, 'create', () => mkdirSync(folder, { recursive: true }));

  function partitionOf(topic: Topic, chain: string): Partition {
    if (closed) throw new LogClosed(`the log in ${folder}`);
    const name = partitionName(topic, chain);
    return getOrInsert(partitions, name, () => {
      return { name, file: createPartitionFile(join(folder, `${topic}.${chain}.sqlite`), name), writer: null };
    });
  }

  function createWriter(partition: Partition): LogWriter {
    let next = partition.file.next();
    let queue: Promise<unknown> = Promise.resolve();

    function mustOwn(): void {
      if (closed || partition.writer === null) throw new LogClosed(`the writer of ${partition.name}`);
      if (partition.writer !== writer) {
        throw new LogWriterFenced(`this process (pid ${process.pid}) opened a newer writer of ${partition.name}`);
      }
    }

    async function append(records: readonly LogRecord[]): Promise<void> {
      mustOwn();
      const groups: PackedGroup[] = [];
      const pace = createPace({ sliceMs: PACKING_MS, restMs: 0 });
      for (const group of partition.file.pack(records)) {
        groups.push(group);
        if (!pace.isSpent()) continue;
        await pace.rest();
        mustOwn();
      }
      partition.file.append(records, groups);
      next = partition.file.next();
      appended.wakeAll();
    }

    const writer: LogWriter = {
      get next() {
        return next;
      },
      packing: 'together',
      append(records) {
        const after = queue.then(() => append(records));
        queue = after.catch(() => {});
        return after;
      },
      async close() {
        await queue;
        if (partition.writer === writer) partition.writer = null;
      },
    };
    return writer;
  }

  function mayHold(topic: Topic, chain: string, position: number): boolean {
    try {
      return partitionOf(topic, chain).file.next() > position;
    } catch {
      // The read that follows throws the error.
      return true;
    }
  }

  return {
    async openWriter(topic, chain) {
      const partition = partitionOf(topic, chain);
      lock ??= lockFolder(folder);
      partition.file.openForWriting();
      partition.writer = createWriter(partition);
      return partition.writer;
    },
    async last(topic, chain) {
      return partitionOf(topic, chain).file.last();
    },
    async read(topic, chain, position, limits) {
      return partitionOf(topic, chain).file.read(position, limits);
    },
    async waitFor(topic, chain, position, timeoutMs, signal) {
      const end = performance.now() + timeoutMs;
      while (!signal?.aborted && performance.now() < end && !mayHold(topic, chain, position)) {
        await appended.sleep(Math.min(lock ? OWN_POLL_MS : POLL_MS, end - performance.now()), signal);
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      for (const partition of partitions.values()) {
        partition.writer = null;
        partition.file.close();
      }
      lock?.release();
      appended.wakeAll();
    },
  };
}
