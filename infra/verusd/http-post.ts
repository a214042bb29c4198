/** Sends one POST to a daemon with a time limit; distinguishes failures by how they can be remedied. */
import type { Dispatcher, Pool } from 'undici';
import { DaemonGarbage, DaemonReplyTooLarge, DaemonTimeout, DaemonUnreachable } from './daemon-errors.ts';

export interface HttpReply {
  readonly status: number;
  readonly body: Buffer;
}

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** With this, a call that was sent does not end with the signal: after an abort, its reply is read only while this returns true. */
  readonly isWanted?: (() => boolean) | undefined;
  /** Longer replies fail with DaemonReplyTooLarge. */
  readonly maxBytes: number;
  /** Called at each change with the bytes that the reply holds in memory; after the promise resolves, the caller accounts for them. */
  readonly holds?: ((bytes: number) => void) | undefined;
  /** Call and daemon for messages: `getblock of 127.0.0.1:27486`. */
  readonly what: string;
}

/**
 * Resolves with the whole reply, whatever its status.
 * @throws DaemonUnreachable, DaemonTimeout, DaemonGarbage (cut off in the middle), DaemonReplyTooLarge, or the signal's reason once it aborts
 */
export function post(pool: Pool, options: PostOptions): Promise<HttpReply> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const call = new Call(options, resolve, reject);
    pool.dispatch({ path: '/', method: 'POST', headers: options.headers, body: options.body }, call);
  });
}

/** Uses undici's low-level events: its streams would double the cost of a call, and calls run several times a second. */
class Call implements Dispatcher.DispatchHandler {
  readonly #options: PostOptions;
  readonly #resolve: (reply: HttpReply) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #status = 0;
  #bytes = 0;
  /** Announced content-length; 0 if there is none. */
  #length = 0;
  #chunks: Buffer[] = [];
  /** Buffer of the announced length for a reply in several chunks, so that the reply is never in memory twice. */
  #whole: Buffer | null = null;

  constructor(options: PostOptions, resolve: (reply: HttpReply) => void, reject: (error: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(this.#late, options.timeoutMs);
    // Not AbortSignal.any, which would leave one listener on a long-lived signal for each of millions of calls.
    options.signal?.addEventListener('abort', this.#calledOff, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) {
      controller.abort(new Error('given up')); // the call ended while it waited for a free connection
      return;
    }
    this.#controller = controller;
    this.#status = 0;
    this.#drop();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#length = Number(headers['content-length'] ?? 0);
    if (this.#isUnwanted()) this.#fail(this.#options.signal?.reason);
    else if (this.#length > this.#options.maxBytes) this.#tooLarge();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#isUnwanted()) {
      this.#fail(this.#options.signal?.reason);
      return;
    }
    const at = this.#bytes;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) {
      this.#tooLarge();
      return;
    }
    if (at === 0 && this.#length > chunk.length) this.#whole = Buffer.allocUnsafeSlow(this.#length);
    if (this.#whole) this.#whole.set(chunk, at);
    else this.#chunks.push(chunk);
    this.#options.holds?.(this.#whole?.length ?? this.#bytes);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#chunks.length > 1) this.#options.holds?.(2 * this.#bytes);
    if (!this.#end()) return;
    const [first = Buffer.alloc(0)] = this.#chunks;
    const body = this.#whole ?? (this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first);
    this.#options.holds?.(body.length);
    this.#resolve({ status: this.#status, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { what } = this.#options;
    const unreachable = () =>
      new DaemonUnreachable(`${what}: ${reasonOf(error)}. Is the daemon running and its RPC port open?`, {
        cause: error,
      });
    this.#fail(this.#status > 0 ? this.#early(error) : unreachable());
  }

  /** Waits one turn of the event loop, so that a process that was stalled reads a reply that is already in its socket. */
  readonly #late = (): void => {
    const { what, timeoutMs } = this.#options;
    setImmediate(() => this.#fail(new DaemonTimeout(`${what}: no complete reply within ${timeoutMs / 1000} s`)));
  };

  readonly #calledOff = (): void => {
    const isAtDaemon = this.#controller !== null && this.#status === 0;
    if (!(this.#options.isWanted && isAtDaemon)) this.#fail(this.#options.signal?.reason);
  };

  #isUnwanted(): boolean {
    const { signal, isWanted } = this.#options;
    return signal?.aborted === true && isWanted?.() === false;
  }

  #tooLarge(): void {
    const { what, maxBytes } = this.#options;
    this.#fail(new DaemonReplyTooLarge(`${what}: the reply has more than ${maxBytes} bytes`));
  }

  #early(cause: Error): DaemonGarbage {
    return new DaemonGarbage(`${this.#options.what}: the reply ended early (${reasonOf(cause)})`, { cause });
  }

  /** Fails the call and closes its connection. */
  #fail(error: unknown): void {
    if (!this.#end()) return;
    this.#drop();
    this.#reject(error);
    this.#controller?.abort(new Error('given up'));
  }

  /** Drops the part of the reply that has arrived. */
  #drop(): void {
    this.#bytes = 0;
    this.#length = 0;
    this.#chunks = [];
    this.#whole = null;
    this.#options.holds?.(0);
  }

  /** Returns false if the call had already ended. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#calledOff);
    return true;
  }
}

/** A connection refused on both IPv4 and IPv6 has no message, but a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}
