/** A reader that takes less than a least pace is given up: what it has not taken yet keeps memory, or a place that all networks share. */

export interface LeastPace {
  readonly bytesPerSecond: number;
  /** Milliseconds of waiting that the pace is averaged over. */
  readonly overMs: number;
}

/** Slower than any line that large answers are fetched on. */
export const LEAST_PACE: LeastPace = { bytesPerSecond: 16 * 1024, overMs: 30_000 };

/** How long one reader may still be waited for. Time in which the service itself holds back is not waiting. */
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
