/**
 * Transactions that wait for a block, as the stream sends them, and the outcomes of transactions that no longer wait. No transaction here
 * is in a block, and all state is bounded.
 */
import { signal } from '@preact/signals';
import type { StreamEvent } from '../../client/stream/stream.ts';

export type MempoolEvent = Extract<StreamEvent, { type: `mempool_${string}` }>;
type WaitingData = Extract<MempoolEvent, { type: 'mempool_tx' }>['data'];
type OutcomeData = Extract<MempoolEvent, { type: 'mempool_gone' }>['data'];

export interface Waiting {
  readonly chain: string;
  readonly data: WaitingData;
  /** Type of the message that brought it. */
  readonly event: MempoolEvent['type'];
  readonly cursor: string;
}

export interface Outcome {
  readonly chain: string;
  readonly data: OutcomeData;
  readonly cursor: string;
  /** The transaction's data, if this page knew it. */
  readonly was: WaitingData | null;
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly at: number;
}

export interface Mempool {
  /** By id, oldest first. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Number of further waiting transactions that are not in `waiting`. */
  readonly more: number;
  /** Whether the daemon has more transactions than the service shows. */
  readonly truncated: boolean;
  /** Whether the whole mempool was received on this connection, so that a transaction that is not listed does not wait. */
  readonly isWhole: boolean;
}

const EMPTY: Mempool = { waiting: new Map(), more: 0, truncated: false, isWhole: false };
const MOST_WAITING = 1_000;
const MOST_OUTCOMES = 200;

/** By chain. */
export const mempools = signal<Readonly<Record<string, Mempool>>>({});
/** Newest first, of all chains. */
export const outcomes = signal<readonly Outcome[]>([]);

export const mempoolOf = (chain: string): Mempool => mempools.value[chain] ?? EMPTY;

export const isMempoolEvent = (event: StreamEvent): event is MempoolEvent => event.type.startsWith('mempool_');

/** Applies events in the order of their arrival. */
export function applyMempool(events: readonly MempoolEvent[]): void {
  for (const [chain, ofChain] of Map.groupBy(events, (event) => event.chain)) applyOf(chain, ofChain);
}

function applyOf(chain: string, events: readonly MempoolEvent[]): void {
  const known = mempoolOf(chain);
  const waiting = new Map(known.waiting);
  let { more, truncated, isWhole } = known;
  let gone = outcomes.value;
  const add = (data: WaitingData, { type: event, cursor }: MempoolEvent) => {
    waiting.set(data.txid, { chain, data, event, cursor });
    const [oldest] = waiting.keys();
    if (waiting.size > MOST_WAITING && oldest !== undefined) {
      waiting.delete(oldest);
      more += 1;
    }
    if (gone.some((outcome) => isOf(outcome, chain, data.txid)))
      gone = gone.filter((outcome) => !isOf(outcome, chain, data.txid));
  };
  for (const event of events) {
    if (event.type === 'mempool_snapshot') {
      const { first, transactions } = event.data;
      if (first) {
        waiting.clear();
        more = 0;
      }
      for (const data of transactions) add(data, event);
      ({ truncated } = event.data);
      isWhole = !event.data.more;
    } else if (event.type === 'mempool_tx') add(event.data, event);
    else {
      const { data, cursor } = event;
      const was = waiting.get(data.txid)?.data ?? null;
      if (was) waiting.delete(data.txid);
      else more = Math.max(0, more - 1);
      gone = [{ chain, data, cursor, was, at: Date.now() }, ...gone].slice(0, MOST_OUTCOMES);
    }
  }
  mempools.value = { ...mempools.value, [chain]: { waiting, more, truncated, isWhole } };
  outcomes.value = gone;
}

/** Called when the connection ends: the known transactions stay, but may be outdated. */
export function leaveMempool(): void {
  const old = Object.entries(mempools.peek()).map(([chain, mempool]) => [chain, { ...mempool, isWhole: false }]);
  if (old.length > 0) mempools.value = Object.fromEntries(old);
}

const isOf = (outcome: Outcome, chain: string, txid: string) => outcome.data.txid === txid && outcome.chain === chain;

export const outcomeOf = (chain: string, txid: string): Outcome | null =>
  outcomes.value.find((outcome) => isOf(outcome, chain, txid)) ?? null;

/** `absent`: it does not wait, and this page did not receive the reason; `unknown`: the page does not know the whole mempool. */
export type Standing = 'waiting' | 'gone' | 'absent' | 'unknown';

export function standingOf(chain: string, txid: string): Standing {
  const { waiting, more, isWhole, truncated } = mempoolOf(chain);
  if (waiting.has(txid)) return 'waiting';
  if (outcomeOf(chain, txid)) return 'gone';
  return isWhole && more === 0 && !truncated ? 'absent' : 'unknown';
}
