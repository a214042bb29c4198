/** The minimum pace of readers. A slower reader is disconnected, because its unread answer holds memory or a place that all networks share. */

export interface LeastPace {
  readonly bytesPerSecond: number;
  /** Milliseconds of waiting over which the pace is averaged. */
  readonly overMs: number;
}

/** Slower than any line on which large answers are fetched. */
export const LEAST_PACE: LeastPace = { bytesPerSecond: 16 * 1024, overMs: 30_000 };

/** Time left to wait for one reader. Time during which the service itself does not send is not counted. */
export class Patience {
  readonly #pace: LeastPace;
  #leftMs: number;

  constructor(pace: LeastPace) {
    this.#pace = pace;
    this.#leftMs = pace.overMs;
  }

  /** 0: the reader is too slow. */
  get leftMs(): number {
    return Math.max(0, this.#leftMs);
  }

  waited(ms: number): void {
    this.#leftMs -= ms;
  }

  took(bytes: number): void {
    this.#leftMs = Math.min(this.#pace.overMs, this.#leftMs + (bytes / this.#pace.bytesPerSecond) * 1000);
  }
}
