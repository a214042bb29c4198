/** Receives the body of a request up to a bound, and within the memory that all bodies share. */
import type { HttpResponse } from 'uWebSockets.js';
import type { BodyReservation, BufferedBodies, BufferedBody } from './buffered-bodies.ts';
import type { AnnouncedBody } from './framing.ts';

export type BodyFailure = 'too large' | 'evicted' | 'aborted';

export interface BodyOptions {
  /** Not 0. */
  readonly announced: AnnouncedBody;
  readonly maxBytes: number;
  readonly held: BufferedBodies;
  /** Whose memory it is. */
  readonly network: string;
  /** Told whenever the client goes, also after the body has come. */
  readonly aborted: () => void;
}

const FIRST_BYTES = 4096;
/** The daemon takes as much: a client that has begun to send so much hears its answer once it has sent it all, unread. */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** Handed on together in the next turn: a turn for each would cost as much as to read a small body. */
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

/** Made in the callback of the request. */
export class IncomingBody implements BufferedBody {
  /**
   * Its bytes, in a later turn of the event loop: uWebSockets.js has parsed by then whatever came together with them. Where that
   * was no part of this request (trailers, another request) the connection is closed, and nothing has been worked on.
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
      // A client that does not read its answer keeps the connection open for a while, and may go on sending.
      if (this.#isReleased) return;
      if (!this.#failure) this.#append(new Uint8Array(chunk), isLast);
      if (!isLast) return;
      this.#isComplete = true;
      // The library takes any line end and any trailers in chunks, so where they end is not certain: nothing behind them is read.
      if (options.announced === 'chunked') res.pause();
      if (!this.#failure) this.#finish();
    });
    if (options.announced !== 'chunked' && options.announced > options.maxBytes) this.#fail('too large');
  }

  /** Whether the connection can carry another request after this one. */
  get endsConnection(): boolean {
    const { announced } = this.#options;
    if (announced === 'chunked') return true;
    return !this.#isComplete && !(this.#failure === 'too large' && announced <= MAX_DISCARDED_BYTES);
  }

  /** It is not going to be read: what has come and what comes is dropped, and `whole` still tells when it has all come. */
  discard(): void {
    if (this.#failure || this.#isComplete) return;
    this.#isDiscarded = true;
    this.#buffer = NO_BYTES;
    this.#holding.release();
  }

  /** To be called once the request is answered: `res` is not touched again. */
  release(): void {
    this.#isReleased = true;
    this.#buffer = NO_BYTES;
    this.#holding.release();
  }

  /** Its memory is needed for others. */
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
      // A buffer that may live long is not taken from Node's pool: it would keep the whole pool alive.
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
