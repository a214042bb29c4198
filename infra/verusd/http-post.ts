/** One POST to a daemon with a time limit; distinguishes failures by the possible remedy. */
import type { Dispatcher, Pool } from 'undici';
import { DaemonGarbage, DaemonTimeout, DaemonUnreachable } from './daemon-errors.ts';

export interface HttpReply {
  readonly status: number;
  readonly body: Buffer;
}

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** A longer reply is cut off. */
  readonly maxBytes: number;
  /** Call and daemon for messages: `getblock of 127.0.0.1:27486`. */
  readonly what: string;
}

/**
 * Resolves with the whole reply, whatever its status.
 * @throws DaemonUnreachable, DaemonTimeout, DaemonGarbage (cut off in the middle), or the signal's reason once it aborts
 */
export async function post(pool: Pool, options: PostOptions): Promise<HttpReply> {
  const { signal, timeoutMs, what, maxBytes } = options;
  signal?.throwIfAborted();
  // Not AbortSignal.any: a long-lived signal would gather one listener for each of millions of calls.
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  let begun = false;
  try {
    const reply = await pool.request({
      path: '/',
      method: 'POST',
      headers: options.headers,
      body: options.body,
      signal: controller.signal,
    });
    begun = true;
    return { status: reply.statusCode, body: await readBody(reply, maxBytes) };
  } catch (error) {
    signal?.throwIfAborted();
    if (controller.signal.aborted) {
      throw new DaemonTimeout(`${what}: no complete reply within ${timeoutMs / 1000} s`, { cause: error });
    }
    const reason = reasonOf(error);
    if (begun) throw new DaemonGarbage(`${what}: the reply ended early (${reason})`, { cause: error });
    throw new DaemonUnreachable(`${what}: ${reason}. Is the daemon running and its RPC port open?`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

async function readBody({ body, headers }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const announced = Number(headers['content-length'] ?? Number.NaN);
  if (announced <= maxBytes) return Buffer.from(await body.arrayBuffer());
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early ends the connection.
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** A refusal on both IPv4 and IPv6 comes without a message, but with a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}
