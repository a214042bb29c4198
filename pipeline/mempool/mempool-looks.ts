/** One look after the other: what the daemon lists, what is new of it, and what the index says of that. */
import type { Pool } from 'pg';
import type { BlockRef } from '../../domain/block-ref.ts';
import {
  EMPTY_MEMPOOL,
  type MempoolState,
  outpointKey,
  reconcile,
  type SeenIndex,
} from '../../processors/mempool/mempool-state.ts';
import { leftOutOf, type Room, type Weighed } from '../../processors/mempool/room.ts';
import type { OutPoint } from '../../processors/state/referenced-keys.ts';
import type { MempoolLook, UnconfirmedTransaction } from '../../schemas/mempool.ts';
import { bestBlockHash, listMempool, type MempoolDaemon, readTransactions } from './daemon-mempool.ts';
import type { DecodeUnconfirmed } from './decode-unconfirmed.ts';
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
  /** Memory of what waits, about. */
  readonly bytes: number;
  /** `isMore`: there is more to read than one look reads. @throws Daemon… errors, those of Postgres; then nothing has changed */
  look(): Promise<{ readonly look: MempoolLook; readonly isMore: boolean }>;
}

/** Transactions that one look reads; the rest is left to the next, so that the first are published soon. */
const READ_AT_ONCE = 200;
/** Outputs that one look asks the index about; beyond, a transaction that conflicts counts as dropped. */
const MOST_OUTPOINTS = 100_000;

const NOTHING_SEEN: SeenIndex = { tip: null, mined: new Map(), spenders: new Map(), reached: new Set() };

export function createMempoolLooks({ chain, daemon, pool, decode, room, signal }: LooksOptions): MempoolLooks {
  let state: MempoolState = EMPTY_MEMPOOL;
  /** Tip of the index at the last look: what waits was not mined up to there. */
  let known: BlockRef | null = null;
  /** Listed ones that there is no room for. */
  let excluded: ReadonlyMap<string, Weighed> = new Map();
  const postponed = createPostponed();
  let bytes = 0;

  /** About all that waits, unless the index has not moved: then about these alone. */
  async function askIndex(own: readonly string[], outpoints: readonly OutPoint[]): Promise<SeenIndex> {
    const hashes = [...new Set(Array.from(state.leaving.values(), ({ awaited }) => awaited))];
    const few = await lookAtIndex(pool, chain, { txids: own, outpoints, hashes });
    if (few.tip?.hash === known?.hash) return few;
    return lookAtIndex(pool, chain, { txids: [...state.waiting.keys(), ...own], outpoints, hashes });
  }

  async function look(): Promise<{ readonly look: MempoolLook; readonly isMore: boolean }> {
    const { address } = daemon;
    const listed = await listMempool(daemon, signal);
    const isNew = (txid: string) => !state.waiting.has(txid) && !excluded.has(txid);
    const fresh = postponed.due([...listed].filter(isNew), known?.hash ?? null);
    const readmitted = admissible(listed);
    // Without any that are new, all there is to know is asked for below.
    const before =
      fresh.length + readmitted.length > 0
        ? await lookAtIndex(pool, chain, { txids: fresh, outpoints: [], hashes: [] })
        : NOTHING_SEEN;
    const unread = [...readmitted, ...fresh.filter((txid) => !before.mined.has(txid))];
    const read = await readTransactions(daemon, unread.slice(0, READ_AT_ONCE), signal);
    const decoded = await decode(read, state.waiting, (before.tip?.height ?? -1) + 1);

    const daemonTip = await bestBlockHash(daemon, signal);
    const missing = [...state.waiting.values()].filter(({ txid }) => !listed.has(txid));
    const outpoints = distinct(missing.flatMap(({ inputs }) => inputs)).slice(0, MOST_OUTPOINTS);
    const index = await askIndex(
      [...missing, ...decoded.transactions].map(({ txid }) => txid),
      outpoints,
    );
    // Another daemon of the group answered in between: what one lists says nothing of the other's newest block.
    if (daemon.address !== address) return { look: lookOf([], index, before, listed), isMore: true };

    // While the index is behind the daemon, an output that it lacks may be in the blocks between.
    const isWhole = ({ inputs }: UnconfirmedTransaction) =>
      index.tip?.hash === daemonTip || inputs.every(({ spent }) => spent !== null);
    const arrived = decoded.transactions.filter(isWhole);
    postponed.keep(listed);
    for (const txid of decoded.unreadable) postponed.add(txid, index.tip?.hash ?? null);
    for (const one of decoded.transactions) if (!isWhole(one)) postponed.add(one.txid, index.tip?.hash ?? null);

    const leftOut = weigh(listed, arrived);
    const next = reconcile(state, { listed, leftOut, arrived, daemonTip, index });
    state = next.state;
    known = index.tip;
    bytes = Array.from(state.waiting.values()).reduce((sum, one) => sum + one.bytes, 0);
    return { look: lookOf(next.changes, index, before, listed), isMore: unread.length > READ_AT_ONCE };
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

  /** Excluded ones that there would be room for now. */
  function admissible(listed: ReadonlySet<string>): string[] {
    const standing = [...excluded.values()].filter(({ txid }) => listed.has(txid));
    if (standing.length === 0) return [];
    const out = leftOutOf([...weighedOf(state.waiting.values()), ...standing], room);
    return standing.flatMap(({ txid }) => (out.has(txid) ? [] : [txid]));
  }

  /** Those to leave out; they are `excluded` from then on. */
  function weigh(listed: ReadonlySet<string>, arrived: readonly UnconfirmedTransaction[]): ReadonlySet<string> {
    const all = new Map<string, Weighed>();
    for (const [txid, weighed] of excluded) if (listed.has(txid)) all.set(txid, weighed);
    for (const weighed of weighedOf(state.waiting.values()))
      if (listed.has(weighed.txid)) all.set(weighed.txid, weighed);
    for (const weighed of weighedOf(arrived)) all.set(weighed.txid, weighed);
    const leftOut = leftOutOf([...all.values()], room);
    const here = new Set(arrived.map(({ txid }) => txid));
    const stillOut = [...excluded.keys()].filter((txid) => listed.has(txid) && !here.has(txid));
    excluded = new Map(
      [...leftOut, ...stillOut].flatMap((txid) => {
        const weighed = all.get(txid);
        return weighed ? [[txid, weighed] as const] : [];
      }),
    );
    return leftOut;
  }

  return {
    get bytes() {
      return bytes;
    },
    look,
  };
}

function weighedOf(transactions: Iterable<UnconfirmedTransaction>): Weighed[] {
  return Array.from(transactions, ({ txid, fee, size, bytes }) => ({ txid, rate: Number(fee ?? 0n) / size, bytes }));
}

function distinct(outpoints: readonly OutPoint[]): OutPoint[] {
  return [...new Map(outpoints.map(({ txid, n }) => [outpointKey({ txid, n }), { txid, n }])).values()];
}
