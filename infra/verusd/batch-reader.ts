/**
 * Reads large replies to batches in a thread, which leaves the main thread free while a chain is synced
 * (docs/decisions/0137-a-thread-that-reads-batches.md). The thread starts with the first of them and ends when none has come for a while.
 */
import { Worker } from 'node:worker_threads';
import { asBuffer } from '../../domain/as-buffer.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { type BatchCalls, type BatchResults, readBatchReply } from './batch-reply.ts';

export interface ReadBatch extends BatchResults {
  readonly body: Buffer;
}

export interface BatchReader {
  /** `body` must not be used afterwards: the result has its bytes. @throws BatchReaderEnded */
  read(body: Buffer, calls: BatchCalls): Promise<ReadBatch>;
  close(): Promise<void>;
}

/** The thread ended before it had answered: it lacked memory, or the service closes. */
export class BatchReaderEnded extends RetryableError {
  constructor(cause?: unknown) {
    super('batch_reader_ended', 'the thread that reads replies of a daemon ended before it had read one', { cause });
  }
}

interface Waiting {
  readonly resolve: (batch: ReadBatch) => void;
  readonly reject: (error: BatchReaderEnded) => void;
}

const THREAD = new URL('./batch-reader-thread.ts', import.meta.url);
const IDLE_MS = 10_000;
/** A smaller reply is read at once: that takes less than half a millisecond, and starting a thread takes a hundred. */
const AT_ONCE_BYTES = 256 * 1024;

export interface BatchReaderOptions {
  readonly idleMs?: number;
  readonly atOnceBytes?: number;
}

export function createBatchReader({
  idleMs = IDLE_MS,
  atOnceBytes = AT_ONCE_BYTES,
}: BatchReaderOptions = {}): BatchReader {
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  /** In the order in which the thread got them, which is that of its answers. */
  let waiting: Waiting[] = [];

  function start(): Worker {
    const started = new Worker(THREAD);
    started.on('message', ({ body, results }: { readonly body: Uint8Array; readonly results: BatchResults }) => {
      if (thread !== started) return;
      waiting.shift()?.resolve({ ...results, body: asBuffer(body) });
      if (waiting.length === 0) rest(started);
    });
    started.once('error', (cause) => ended(started, cause));
    started.once('exit', () => ended(started));
    return started;
  }

  /** A thread at rest does not keep the process alive. */
  function rest(resting: Worker): void {
    resting.unref();
    idle = setTimeout(() => void end(resting), idleMs).unref();
  }

  function ended(gone: Worker, cause?: unknown): void {
    if (thread !== gone) return;
    thread = null;
    const unanswered = waiting;
    waiting = [];
    for (const { reject } of unanswered) reject(new BatchReaderEnded(cause));
  }

  /** @throws where the machine has no thread left */
  function ask(body: Buffer, calls: BatchCalls): void {
    thread ??= start();
    const bytes = ownBytes(body);
    thread.postMessage({ body: bytes, calls }, [bytes.buffer]);
    thread.ref();
    clearTimeout(idle);
  }

  async function end(ending: Worker): Promise<void> {
    clearTimeout(idle);
    ended(ending);
    await ending.terminate();
  }

  return {
    async read(body, calls) {
      if (body.byteLength <= atOnceBytes) return { ...readBatchReply(body, calls), body };
      return new Promise((resolve, reject) => {
        try {
          ask(body, calls);
          waiting.push({ resolve, reject });
        } catch (cause) {
          reject(new BatchReaderEnded(cause));
        }
      });
    },
    async close() {
      if (thread) await end(thread);
    },
  };
}

/** Bytes in memory that nothing else uses: it goes to the thread with them. */
function ownBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = body;
  // Empty buffers may be one and the same.
  const isOwn = byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(body);
}
