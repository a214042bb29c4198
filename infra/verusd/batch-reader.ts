/**
 * Reads large replies to batches in a worker thread, which keeps the main thread free while a chain syncs
 * (docs/decisions/0137-a-thread-that-reads-batches.md). The thread starts with the first large reply and ends after it was idle for IDLE_MS.
 */
import { Worker } from 'node:worker_threads';
import { asBuffer } from '../../domain/as-buffer.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { type BatchCalls, type BatchResults, readBatchReply } from './batch-reply.ts';

export interface ReadBatch extends BatchResults {
  readonly body: Buffer;
}

export interface BatchReader {
  /** Takes ownership of `body`, whose bytes the result returns; the caller must not use `body` afterwards. @throws BatchReaderEnded */
  read(body: Buffer, calls: BatchCalls): Promise<ReadBatch>;
  close(): Promise<void>;
}

/** The thread ended before it answered: it ran out of memory, or the service is closing. */
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
/** Replies up to this size are read on the main thread: that takes less than half a millisecond; starting a thread takes a hundred. */
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
  /** Reads in the order in which the thread received them, which is also the order of its answers. */
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

  /** An idle thread does not keep the process alive. */
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

  /** @throws if the machine cannot start another thread */
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
          if (thread && waiting.length === 0) rest(thread);
          reject(new BatchReaderEnded(cause));
        }
      });
    },
    async close() {
      if (thread) await end(thread);
    },
  };
}

/** Returns the bytes in an ArrayBuffer that nothing else uses, because the buffer is transferred to the thread. */
function ownBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = body;
  // Empty buffers may share one ArrayBuffer.
  const isOwn = byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(body);
}
