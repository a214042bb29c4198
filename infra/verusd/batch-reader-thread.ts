/** The worker thread of batch-reader.ts. */
import { parentPort } from 'node:worker_threads';
import { type BatchCalls, readBatchReply } from './batch-reply.ts';

parentPort?.on('message', ({ body, calls }: { readonly body: Uint8Array<ArrayBuffer>; calls: BatchCalls }) => {
  const results = readBatchReply(Buffer.from(body.buffer), calls);
  parentPort?.postMessage({ body, results }, [body.buffer]);
});
