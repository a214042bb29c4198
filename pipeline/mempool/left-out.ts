/** Tracks from poll to poll which listed transactions are left out for lack of room. */
import { leftOutOf, type Room, type Weighed } from '../../processors/mempool/room.ts';
import type { UnconfirmedTransaction } from '../../schemas/mempool.ts';

export interface LeftOut {
  has(txid: string): boolean;
  /** Returns the left-out transactions that there is room for now. */
  admissible(listed: ReadonlySet<string>, waiting: Waiting): string[];
  /** Decides which of the waiting and arrived transactions to leave out from now on, and returns them. */
  weigh(listed: ReadonlySet<string>, waiting: Waiting, arrived: readonly UnconfirmedTransaction[]): ReadonlySet<string>;
}

type Waiting = ReadonlyMap<string, UnconfirmedTransaction>;

export function createLeftOut(room: Room): LeftOut {
  let excluded: ReadonlyMap<string, Weighed> = new Map();

  return {
    has: (txid) => excluded.has(txid),
    admissible(listed, waiting) {
      if (waiting.size >= room.transactions) return [];
      const standing = [...excluded.values()].filter(({ txid }) => listed.has(txid));
      if (standing.length === 0) return [];
      const out = leftOutOf([...weighedOf(waiting.values()), ...standing], room);
      return standing.flatMap(({ txid }) => (out.has(txid) ? [] : [txid]));
    },
    weigh(listed, waiting, arrived) {
      const all = new Map<string, Weighed>();
      for (const [txid, weighed] of excluded) if (listed.has(txid)) all.set(txid, weighed);
      if (arrived.length === 0) {
        excluded = all;
        return new Set();
      }
      for (const weighed of weighedOf(waiting.values())) if (listed.has(weighed.txid)) all.set(weighed.txid, weighed);
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
    },
  };
}

function weighedOf(transactions: Iterable<UnconfirmedTransaction>): Weighed[] {
  return Array.from(transactions, ({ txid, fee, size, bytes }) => ({ txid, rate: Number(fee ?? 0n) / size, bytes }));
}
