/** Receives the body of a request, up to a maximum size and within the memory that all bodies share. */
import type { HttpResponse } from 'uWebSockets.js';
import type { BodyReservation, BufferedBodies, BufferedBody } from './buffered-bodies.ts';
import type { AnnouncedBody } from './framing.ts';

export type BodyFailure = 'too large' | 'evicted' | 'aborted';

export interface BodyOptions {
  /** Not 0. */
  readonly announced: AnnouncedBody;
  readonly maxBytes: number;
  readonly held: BufferedBodies;
  /** The network that the memory is counted for. */
  readonly network: string;
  /** Called when the client disconnects, also after the body is complete. */
  readonly aborted: () => void;
}

const FIRST_BYTES = 4096;
/** The daemon accepts as much. A body that is too large is discarded up to this size, so that its client gets to read the answer. */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** Bodies to hand on together in the next turn: a turn for each would cost as much as reading a small body. */
let awaitingTurn: IncomingBody[] = [];

function handOnInNextTurn(body: IncomingBody): void {
  if (awaitingTurn.length === 0) setImmediate(handOnAll);
  awaitingTurn.push(body);
}

function handOnAll(): void {
  const bodies = awaitingTurn;
  awaitingTurn = [];
  for (const body of bodies) body.handOn();
}

/** Construct it in the callback of the request. */
export class IncomingBody implements BufferedBody {
  /**
   * Resolves in a later turn of the event loop, after uWebSockets.js has parsed everything that arrived with the body. If that was no part of
   * this request (trailers, another request), the connection is closed by then, and no work has been done.
   */
  readonly whole: Promise<Buffer | BodyFailure>;
  readonly #options: BodyOptions;
  readonly #holding: BodyReservation;
  #settle!: (body: Buffer | BodyFailure) => void;
  #buffer = NO_BYTES;
  #length = 0;
  #isComplete = false;
  #isDiscarded = false;
  #isReleased = false;
  #failure: BodyFailure | null = null;

  constructor(res: HttpResponse, options: BodyOptions) {
    this.#options = options;
    this.whole = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#holding = options.held.hold(options.network, this);
    res.onAborted(() => {
      options.aborted();
      // A complete body may already be in use, so its memory stays reserved until release().
      if (this.#isComplete) this.#settle('aborted');
      else this.#fail('aborted');
    });
    res.onData((chunk, isLast) => {
      // A client that does not read its answer keeps the connection open for a while, and may continue to send.
      if (this.#isReleased) return;
      if (!this.#failure) this.#append(new Uint8Array(chunk), isLast);
      if (!isLast) return;
      this.#isComplete = true;
      // uWebSockets.js accepts any line ends and trailers in chunks, so the end of the body is ambiguous: nothing behind it is read.
      if (options.announced === 'chunked') res.pause();
      if (!this.#failure) this.#finish();
    });
    if (options.announced !== 'chunked' && options.announced > options.maxBytes) this.#fail('too large');
  }

  /** Whether the connection must be closed after the answer, because it cannot carry another request. */
  get endsConnection(): boolean {
    const { announced } = this.#options;
    if (announced === 'chunked') return true;
    return !this.#isComplete && !(this.#failure === 'too large' && announced <= MAX_DISCARDED_BYTES);
  }

  /** Drops what has arrived and what still arrives; `whole` still resolves at the end of the body. */
  discard(): void {
    if (this.#failure || this.#isComplete) return;
    this.#isDiscarded = true;
    this.#buffer = NO_BYTES;
    this.#holding.release();
  }

  /** Call it once the request is answered: `res` is not used again. */
  release(): void {
    this.#isReleased = true;
    this.#buffer = NO_BYTES;
    this.#holding.release();
  }

  /** Called by BufferedBodies when other bodies need the memory. */
  evict(): void {
    this.#fail('evicted');
  }

  /** Called once the body is complete and uWebSockets.js has parsed everything that arrived with it. */
  handOn(): void {
    if (this.#isDiscarded) {
      this.#settle(NO_BYTES);
      return;
    }
    const isFull = this.#length === this.#buffer.byteLength;
    this.#settle(isFull ? this.#buffer : this.#buffer.subarray(0, this.#length));
  }

  #append(chunk: Uint8Array, isLast: boolean): void {
    const { announced, maxBytes } = this.#options;
    const needed = this.#length + chunk.byteLength;
    if (needed > maxBytes) {
      this.#fail('too large');
      return;
    }
    if (this.#isDiscarded) {
      this.#length = needed;
      return;
    }
    if (needed > this.#buffer.byteLength) {
      const most = announced === 'chunked' ? maxBytes : announced;
      const size = isLast ? needed : Math.min(most, Math.max(needed, 2 * this.#buffer.byteLength, FIRST_BYTES));
      this.#holding.grow(size);
      if (this.#failure) return;
      // A buffer that may live long does not come from Node's pool: it would keep the whole pool alive.
      const grown = isLast ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size);
      if (this.#length > 0) grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = needed;
  }

  #finish(): void {
    if (!this.#isDiscarded && !this.#holding.keep()) this.#fail('evicted');
    else handOnInNextTurn(this);
  }

  /** Keeps the first reason when several apply. */
  #fail(failure: BodyFailure): void {
    this.#failure ??= failure;
    this.#buffer = NO_BYTES;
    this.#length = 0;
    this.#holding.release();
    this.#settle(failure);
  }
}
