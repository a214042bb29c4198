/** Faults on demand. Rates are probabilities from 0 to 1, drawn from a seeded generator. */
export interface Faults {
  /** Answers a call with JSON-RPC error -1. */
  readonly errorRate?: number;
  /** Answers only after `timeoutSeconds` (an hour when absent), if the client waits that long. */
  readonly timeoutRate?: number;
  readonly timeoutSeconds?: number;
  /** Sends half the body under the full Content-Length, then closes the connection. */
  readonly cutRate?: number;
  /** Closes the connection without an answer. */
  readonly closeRate?: number;
  /** Sends a complete answer that is not JSON. */
  readonly garbageRate?: number;
  /** Answers with HTTP 500 "Work queue depth exceeded". */
  readonly busyRate?: number;
  /** Answers every call with error -28. */
  readonly warmUp?: boolean;
  /** Answers every request with 401. */
  readonly wrongAuth?: boolean;
  /** Stops the paced moves of the story, while calls are still answered. */
  readonly stalledTip?: boolean;
  /** The ZMQ publisher sends nothing, although connections to it succeed. */
  readonly silentPublisher?: boolean;
  /** Restricts the faults to requests with a call of these methods; absent: all requests. */
  readonly methods?: readonly string[];
  readonly seed?: number;
}

/** A small seeded generator (mulberry32): the same seed gives the same sequence of numbers in [0, 1). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
