/** Limits how much of the data set each network may fetch, and how many files at once. Each process counts on its own. */
import { LRUCache } from 'lru-cache';

export interface Bandwidth {
  /** Charges a request in advance unless the allowance is used up. Returns 0 when admitted, else the seconds until a retry. */
  take(network: string, bytes: number): number;
  /** Charges what an admitted answer costs beyond its price, even if less is left: an answer is never cut off. */
  takeMore(network: string, bytes: number): void;
  /** Refunds bytes that were charged but not sent. */
  giveBack(network: string, bytes: number): void;
  /** Returns whether one more file may be sent now; if so, call `end` once it is sent. */
  begin(network: string): boolean;
  end(network: string): void;
}

interface Account {
  left: number;
  at: number;
}

const HOUR_MS = 3_600_000;
/** Maximum of known networks; beyond it the least recently seen is forgotten. */
const MOST_ACCOUNTS = 10_000;
/** Maximum of concurrent files, each with a chunk in memory: for one network (engines request ranges in parallel) and in total. */
export const MOST_TRANSFERS = { network: 64, all: 512 } as const;
/** Places reserved for the first file of a network. */
const FOR_FIRST = 128;
/** Share of the other free places that one network may use, so that a few networks never take them all. */
const SHARE_OF_FREE = 1 / 4;

export function createBandwidth(
  bytesPerHour: number,
  now: () => number = performance.now.bind(performance),
): Bandwidth {
  const accounts = new LRUCache<string, Account>({ max: MOST_ACCOUNTS });
  const transfers = new Map<string, number>();
  let underWay = 0;
  const leftAt = ({ left, at }: Account, moment: number) =>
    Math.min(bytesPerHour, left + ((moment - at) / HOUR_MS) * bytesPerHour);

  function accountOf(network: string): Account {
    const moment = now();
    const known = accounts.get(network);
    const account = { left: known ? leftAt(known, moment) : bytesPerHour, at: moment };
    accounts.set(network, account);
    return account;
  }

  return {
    take(network, bytes) {
      const account = accountOf(network);
      if (account.left <= 0) return Math.max(1, Math.ceil((-account.left / bytesPerHour) * 3600));
      account.left -= bytes;
      return 0;
    },
    takeMore(network, bytes) {
      accountOf(network).left -= bytes;
    },
    giveBack(network, bytes) {
      const account = accountOf(network);
      account.left = Math.min(bytesPerHour, account.left + bytes);
    },
    begin(network) {
      const own = transfers.get(network) ?? 0;
      const free = MOST_TRANSFERS.all - underWay;
      const most = Math.min(MOST_TRANSFERS.network, Math.ceil((free - FOR_FIRST) * SHARE_OF_FREE));
      if (own === 0 ? free === 0 : own >= most) return false;
      transfers.set(network, own + 1);
      underWay += 1;
      return true;
    },
    end(network) {
      const own = (transfers.get(network) ?? 0) - 1;
      if (own > 0) transfers.set(network, own);
      else transfers.delete(network);
      underWay -= 1;
    },
  };
}
