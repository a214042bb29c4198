/** How much of the data set each network may still fetch, and how many files at once. Counted by this process alone. */
import { LRUCache } from 'lru-cache';

export interface Bandwidth {
  /**
   * Takes the bytes of an answer while anything is left, so that one answer is never cut; returns after how many seconds to ask again, 0
   * when it was allowed.
   */
  take(network: string, bytes: number): number;
  /** Returns bytes that were taken and not sent. */
  giveBack(network: string, bytes: number): void;
  /** Whether one more file may be sent now; then call `end` when it has been. */
  begin(network: string): boolean;
  end(network: string): void;
}

interface Account {
  left: number;
  at: number;
}

const HOUR_MS = 3_600_000;
/** No answer is free: this many requests at least exhaust an allowance. */
const LEAST_BYTES = 512;
/** Beyond it the network that asked longest ago is forgotten. */
const MOST_ACCOUNTS = 10_000;
/** Files on their way, each with a chunk in memory: of a network, as engines ask for ranges side by side, and of all. */
export const MOST_TRANSFERS = { network: 64, all: 512 } as const;

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
      account.left -= Math.max(bytes, LEAST_BYTES);
      return 0;
    },
    giveBack(network, bytes) {
      const account = accountOf(network);
      account.left = Math.min(bytesPerHour, account.left + bytes);
    },
    begin(network) {
      const own = transfers.get(network) ?? 0;
      if (own >= MOST_TRANSFERS.network || underWay >= MOST_TRANSFERS.all) return false;
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
