/** The loop of derive: while one batch is being written, the next one is read, loaded and derived. */
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Probe } from '../../processors/faults/derive-with-dead-letters.ts';
import type { ChainContext } from '../../processors/state/chain-state.ts';
import type { BatchSize } from '../stage/batch-size.ts';
import type { StageReport, StageReportOptions } from '../stage/stage-report.ts';
import type { BatchWriter } from './batch-writer.ts';
import { createBlockDeriver } from './block-deriver.ts';
import type { DeadLetterReport } from './dead-letter-report.ts';
import { createSegmentReader } from './read-segments.ts';
import type { StoredState } from './stored-state.ts';

export interface FoldOptions {
  readonly chain: ChainContext;
  readonly log: EventLog;
  readonly stored: StoredState;
  readonly writer: BatchWriter;
  readonly size: BatchSize;
  readonly report: StageReport;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called at the end of the log once everything is written; resolves to whether to continue. */
  readonly atEnd: (position: number) => Promise<boolean>;
  /** Position of the last record to fold. */
  readonly until?: number;
  readonly deadLetters?: DeadLetterReport;
  readonly probe?: Probe | undefined;
}

/** The log lines of `foldLog` for a report. */
export const DERIVE_LINES: StageReportOptions['lines'] = {
  state: (state) => `derive: ${state.replace('_', ' ')}`,
  progress: 'deriving',
};

/** Continues after the commit of `writer`. Finishes the current batch before it returns or throws. */
export async function foldLog(options: FoldOptions): Promise<void> {
  const { chain, log, stored, writer, size, report, logger, signal, until = Number.MAX_SAFE_INTEGER } = options;
  const reader = createSegmentReader(log, chain.name, (writer.committed()?.position ?? -1) + 1);
  const deriver = createBlockDeriver({ chain, stored, signal, probe: options.probe });
  let writing: Promise<void> = Promise.resolve();
  try {
    while (!signal.aborted && reader.position <= until) {
      const { maxBlocks, maxBytes } = size.limits();
      const limits = { maxBlocks: Math.min(maxBlocks, until - reader.position + 1), maxBytes };
      const segment = await reader.next(limits, signal);
      if (!segment) {
        await writing;
        if (!(await options.atEnd(reader.position))) return;
        continue;
      }
      if (segment.kind === 'rewind') {
        await writing;
        await writer.rewind(segment);
        const { height, fromHeight } = segment;
        logger.info({ chain: chain.name, height, fromHeight }, 'derive: rewound');
        report.rewound(height);
        await options.deadLetters?.count();
        await deriver.reset(segment.height);
        continue;
      }
      const blocks = await deriver.derive(segment.records, async () => {
        await writing;
        return writer.committed()?.height ?? null;
      });
      await writing;
      const began = performance.now();
      writing = writer.write(blocks).then(async () => {
        size.took(blocks.length, (performance.now() - began) / 1000);
        report.at(writer.committed()?.height ?? -1, blocks.length);
        await options.deadLetters?.written(blocks);
      });
      // The next `await writing` throws its error.
      writing.catch(() => undefined);
    }
  } finally {
    await writing;
  }
}
