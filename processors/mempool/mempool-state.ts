/**
 * The transactions that wait in a daemon's mempool, from one look to the next. A look contains what the daemon lists and what the index
 * has. Nothing depends on missed looks, so restarts of either side and reorganisations in between need no special treatment.
 */
import type { BlockRef } from '../../domain/block-ref.ts';
import type { MempoolChange, UnconfirmedOutcome, UnconfirmedTransaction } from '../../schemas/mempool.ts';

export interface MempoolState {
  /** In the order of arrival; a transaction that spends another comes after it. */
  readonly waiting: ReadonlyMap<string, UnconfirmedTransaction>;
  /** Waiting transactions that the daemon no longer lists, until the index has the block that was the daemon's tip then. */
  readonly leaving: ReadonlyMap<string, Leaving>;
}

export interface Leaving {
  /** Hash of that block. */
  readonly awaited: string;
  /** Number of looks since. The index never gets a block that the daemon has abandoned, so after some looks a newer one is awaited. */
  readonly looks: number;
}

const MOST_LOOKS = 5;

export interface SeenMempool {
  /** Transactions that the daemon lists. */
  readonly listed: ReadonlySet<string>;
  /** Listed transactions for which there is no room. */
  readonly leftOut: ReadonlySet<string>;
  /** Readable listed transactions that do not wait yet; a transaction that spends another comes after it. */
  readonly arrived: readonly UnconfirmedTransaction[];
  /** Hash of the daemon's newest block, queried after the list. */
  readonly daemonTip: string;
  /** The state of the index, read at one moment after all of the above. */
  readonly index: SeenIndex;
}

export interface SeenIndex {
  readonly tip: BlockRef | null;
  /** Blocks that contain waiting or arrived transactions, by txid. */
  readonly mined: ReadonlyMap<string, BlockRef>;
  /** Mined transactions that spent an output which an unlisted transaction spends, by outpointKey(). */
  readonly spenders: ReadonlyMap<string, BlockRef & { readonly txid: string }>;
  /** Awaited blocks that are in the index. */
  readonly reached: ReadonlySet<string>;
}

export const EMPTY_MEMPOOL: MempoolState = { waiting: new Map(), leaving: new Map() };

export function outpointKey({ txid, n }: { readonly txid: string; readonly n: number }): string {
  return `${txid}:${n}`;
}

/** `state` is not changed. */
export function reconcile(
  state: MempoolState,
  seen: SeenMempool,
): { readonly state: MempoolState; readonly changes: readonly MempoolChange[] } {
  const { listed, leftOut, daemonTip, index } = seen;
  const waiting = new Map(state.waiting);
  const leaving = new Map<string, Leaving>();
  const changes: MempoolChange[] = [];
  const arrived = seen.arrived.filter(({ txid }) => !waiting.has(txid) && !index.mined.has(txid) && !leftOut.has(txid));
  let spenders: ReadonlyMap<string, string> | null = null;
  const standing = () => {
    spenders ??= standingSpenders([...state.waiting.values(), ...arrived], listed);
    return spenders;
  };
  const outcomes = new Map<string, UnconfirmedOutcome>();

  for (const [txid, transaction] of state.waiting) {
    const block = index.mined.get(txid);
    const isListed = listed.has(txid);
    let outcome: UnconfirmedOutcome | null = null;
    if (block) outcome = { reason: 'mined', ...block };
    else if (isListed) outcome = leftOut.has(txid) ? { reason: 'left_out' } : null;
    else {
      const before = state.leaving.get(txid);
      const isDecided = index.tip?.hash === daemonTip || (before !== undefined && index.reached.has(before.awaited));
      if (isDecided) outcome = outcomeOf(transaction, seen, standing, outcomes);
      else leaving.set(txid, stillLeaving(before, daemonTip));
    }
    if (!outcome) continue;
    outcomes.set(txid, outcome);
    waiting.delete(txid);
    changes.push({ kind: 'gone', transaction, outcome });
  }
  for (const transaction of arrived) {
    waiting.set(transaction.txid, transaction);
    changes.push({ kind: 'waits', transaction });
  }
  return { state: { waiting, leaving }, changes };
}

function stillLeaving(before: Leaving | undefined, daemonTip: string): Leaving {
  if (!before || before.looks >= MOST_LOOKS) return { awaited: daemonTip, looks: 0 };
  return { ...before, looks: before.looks + 1 };
}

/** Outpoint → the listed transaction that spends it. */
function standingSpenders(
  transactions: readonly UnconfirmedTransaction[],
  listed: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const spenders = new Map<string, string>();
  for (const { txid, inputs } of transactions) {
    if (listed.has(txid)) for (const input of inputs) spenders.set(outpointKey(input), txid);
  }
  return spenders;
}

/** Determines why a transaction is gone that the daemon no longer lists and that is in no block of the index. */
function outcomeOf(
  { txid: own, inputs, expiryHeight }: UnconfirmedTransaction,
  { index }: SeenMempool,
  standing: () => ReadonlyMap<string, string>,
  outcomes: ReadonlyMap<string, UnconfirmedOutcome>,
): UnconfirmedOutcome {
  for (const input of inputs) {
    const spender = index.spenders.get(outpointKey(input));
    if (spender && spender.txid !== own) return { reason: 'conflicting', ...spender };
  }
  for (const input of inputs) {
    const txid = standing().get(outpointKey(input));
    if (txid !== undefined) return { reason: 'replaced', txid };
  }
  if (expiryHeight > 0 && index.tip && index.tip.height >= expiryHeight) return { reason: 'expired' };
  for (const { txid } of inputs) {
    const before = outcomes.get(txid);
    if (before && before.reason !== 'mined' && before.reason !== 'left_out') return before;
  }
  return { reason: 'dropped' };
}
