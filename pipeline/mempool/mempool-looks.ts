/** Polls of the mempool ("looks"): each reads the daemon's list and its new transactions, and compares them with the index. */
import type { Pool } from 'pg';
import type { BlockRef } from '../../domain/block-ref.ts';
import {
  EMPTY_MEMPOOL,
  type MempoolState,
  outpointKey,
  reconcile,
  type SeenIndex,
} from '../../processors/mempool/mempool-state.ts';
import type { Room } from '../../processors/mempool/room.ts';
import type { OutPoint } from '../../processors/state/referenced-keys.ts';
import type { MempoolLook, UnconfirmedTransaction } from '../../schemas/mempool.ts';
import { bestBlockHash, type MempoolDaemon, readTransactions } from './daemon-mempool.ts';
import type { DecodeUnconfirmed } from './decode-unconfirmed.ts';
import { createLeftOut } from './left-out.ts';
import { createMempoolLists } from './listed.ts';
import { lookAtIndex } from './look-at-index.ts';
import { createPostponed } from './postponed.ts';

export interface LooksOptions {
  readonly chain: string;
  readonly daemon: MempoolDaemon;
  readonly pool: Pool;
  readonly decode: DecodeUnconfirmed;
  readonly room: Room;
  readonly signal: AbortSignal;
}

export interface MempoolLooks {
  /** Approximate memory of the waiting transactions. */
  readonly bytes: number;
  /** `isMore`: more is left to read than one look reads. Changes no state when it throws. @throws Daemon… errors and errors of Postgres */
  look(): Promise<{ readonly look: MempoolLook; readonly isMore: boolean }>;
}

/** Transactions that one look reads; the rest is left to the next looks, so that the first are published soon. */
const READ_AT_ONCE = 200;
/** Outputs that one look asks the index about; with more, a transaction that conflicts with a mined one counts as dropped. */
const MOST_OUTPOINTS = 100_000;

/** Time between two queries of an index that has not moved. */
const STILL_MS = 5_000;

const NOTHING_SEEN: SeenIndex = { tip: null, mined: new Map(), spenders: new Map(), reached: new Set() };

export function createMempoolLooks({ chain, daemon, pool, decode, room, signal }: LooksOptions): MempoolLooks {
  let state: MempoolState = EMPTY_MEMPOOL;
  /** Tip of the index at the last look: the waiting transactions were not mined up to this block. */
  let known: BlockRef | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  const leftOut = createLeftOut(room);
  const lists = createMempoolLists(daemon, signal);
  const postponed = createPostponed();
  let bytes = 0;
  /** Whether the last look left listed transactions unread. */
  let isReading = false;

  /** Asks about all waiting transactions if the index has moved, else only about `own`. */
  async function askIndex(
    own: readonly string[],
    outpoints: readonly OutPoint[],
    daemonTip: string,
  ): Promise<SeenIndex> {
    const hashes = [...new Set(Array.from(state.leaving.values(), ({ awaited }) => awaited))];
    // The index was at the daemon's newest block, and there is nothing to ask about: only a redrive could have moved it.
    const isStill = daemonTip === known?.hash && own.length === 0 && outpoints.length === 0 && hashes.length === 0;
    if (isStill && performance.now() - askedAt < STILL_MS) return { ...NOTHING_SEEN, tip: known };
    askedAt = performance.now();
    const few = await lookAtIndex(pool, chain, { txids: own, outpoints, hashes });
    if (few.tip?.hash === known?.hash) return few;
    return lookAtIndex(pool, chain, { txids: [...state.waiting.keys(), ...own], outpoints, hashes });
  }

  async function look(): Promise<{ readonly look: MempoolLook; readonly isMore: boolean }> {
    const { address, listed } = await lists(isReading);
    const isNew = (txid: string) => !state.waiting.has(txid) && !leftOut.has(txid);
    const fresh = postponed.due([...listed].filter(isNew), known?.hash ?? null);
    const unread = [...leftOut.admissible(listed, state.waiting), ...fresh];
    const asked = unread.slice(0, READ_AT_ONCE);
    // With nothing to read, the query below is enough.
    const before =
      asked.length > 0 ? await lookAtIndex(pool, chain, { txids: asked, outpoints: [], hashes: [] }) : NOTHING_SEEN;
    const read = await readTransactions(
      daemon,
      asked.filter((txid) => !before.mined.has(txid)),
      signal,
    );
    const decoded = await decode(read, state.waiting, (before.tip?.height ?? -1) + 1);

    const daemonTip = await bestBlockHash(daemon, signal);
    const missing = [...state.waiting.values()].filter(({ txid }) => !listed.has(txid));
    const outpoints = distinct(missing.flatMap(({ inputs }) => inputs)).slice(0, MOST_OUTPOINTS);
    const index = await askIndex(
      [...missing, ...decoded.transactions].map(({ txid }) => txid),
      outpoints,
      daemonTip,
    );
    // Another daemon of the group answered meanwhile: the list of one daemon does not match the newest block of another.
    if (daemon.address !== address) {
      isReading = false;
      return { look: lookOf([], index, before, listed), isMore: true };
    }

    // If the index was behind the daemon, a missing output may be in the blocks between.
    const decodedAt = before.tip?.hash ?? null;
    // An index without a block knows no outputs, and the transactions would be read as those of the genesis block.
    const isWhole = ({ inputs }: UnconfirmedTransaction) =>
      decodedAt !== null && (decodedAt === daemonTip || inputs.every(({ spent }) => spent !== null));
    /** Transactions that are not shown yet; transactions that spend them are not shown either. */
    const unfit = new Set(unread.slice(READ_AT_ONCE));
    const early: string[] = [];
    const arrived = decoded.transactions.filter((one) => {
      // A transaction is shown after those that it spends.
      if (isWhole(one) && !one.inputs.some(({ txid }) => unfit.has(txid))) return true;
      unfit.add(one.txid);
      early.push(one.txid);
      return false;
    });
    postponed.keep(listed);
    for (const txid of before.mined.keys()) postponed.add(txid, decodedAt);
    for (const txid of decoded.unreadable) postponed.add(txid, decodedAt);
    for (const txid of early) postponed.add(txid, decodedAt);

    const left = leftOut.weigh(listed, state.waiting, arrived);
    const next = reconcile(state, { listed, leftOut: left, arrived, daemonTip, index });
    state = next.state;
    known = index.tip;
    bytes = Array.from(state.waiting.values()).reduce((sum, one) => sum + one.bytes, 0);
    isReading = unread.length > READ_AT_ONCE;
    return { look: lookOf(next.changes, index, before, listed), isMore: isReading };
  }

  function lookOf(
    changes: MempoolLook['changes'],
    { tip, mined }: SeenIndex,
    before: SeenIndex,
    listed: ReadonlySet<string>,
  ): MempoolLook {
    let withheld = 0;
    for (const txid of listed) {
      if (!state.waiting.has(txid) && !mined.has(txid) && !before.mined.has(txid)) withheld += 1;
    }
    return { changes, index: tip, listed: listed.size, withheld };
  }

  return {
    get bytes() {
      return bytes;
    },
    look,
  };
}

function distinct(outpoints: readonly OutPoint[]): OutPoint[] {
  return [...new Map(outpoints.map(({ txid, n }) => [outpointKey({ txid, n }), { txid, n }])).values()];
}
