/** Misbehaviour on demand. Rates are probabilities from 0 to 1, drawn from a seeded generator. */
export interface Faults {
  /** JSON-RPC error -1 for a call. */
  readonly errorRate?: number;
  /** No answer until the client gives up, or `timeoutSeconds` later. */
  readonly timeoutRate?: number;
  readonly timeoutSeconds?: number;
  /** Half a body under the full Content-Length, then the connection closes. */
  readonly cutRate?: number;
  /** The connection closes without an answer. */
  readonly closeRate?: number;
  /** A complete answer that is no JSON. */
  readonly garbageRate?: number;
  /** HTTP 500 "Work queue depth exceeded". */
  readonly busyRate?: number;
  /** Every call: -28. */
  readonly warmUp?: boolean;
  /** Every request: 401. */
  readonly wrongAuth?: boolean;
  /** The story stands still while calls are answered. */
  readonly stalledTip?: boolean;
  /** The ZMQ publisher says nothing, though connections to it succeed. */
  readonly silentPublisher?: boolean;
  /** Only requests with a call of these methods misbehave; all when absent. */
  readonly methods?: readonly string[];
  readonly seed?: number;
}

/** Small seeded generator (mulberry32): the same seed gives the same sequence, numbers in [0, 1). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
