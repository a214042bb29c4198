/** The embedded log in a temporary folder, with appends that fail on demand. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedEventLog } from '../../../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog, LogRecord } from '../../../../infra/event-log/event-log.ts';
import { RetryableError } from '../../../../schemas/errors.ts';
import { readAllBlocks } from './fold-blocks.ts';

/** An append that fails before anything is written, or after everything is: the writer cannot tell which. */
export type AppendFault = 'lost' | 'written' | null;

export interface FaultyLog extends EventLog {
  /** Called for each append. */
  fault: () => AppendFault;
  /** All records of a chain's `blocks` topic. */
  blocks(chain: string): Promise<readonly LogRecord[]>;
  /** Closes the log and removes its folder. */
  remove(): Promise<void>;
}

export async function createFaultyLog(): Promise<FaultyLog> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-tailer-'));
  const inner = createEmbeddedEventLog({ folder });

  const log: FaultyLog = {
    ...inner,
    fault: () => null,
    async openWriter(topic, chain) {
      const writer = await inner.openWriter(topic, chain);
      return {
        get next() {
          return writer.next;
        },
        packing: writer.packing,
        async append(records) {
          const fault = log.fault();
          if (fault === 'lost') throw new RetryableError('log_unreachable', 'injected: nothing was written');
          await writer.append(records);
          if (fault === 'written') throw new RetryableError('log_unreachable', 'injected: all was written');
        },
        close: () => writer.close(),
      };
    },
    blocks: (chain) => readAllBlocks(inner, chain),
    async remove() {
      await inner.close();
      await rm(folder, { recursive: true });
    },
  };
  return log;
}
