/** How much of the data set each network may still fetch. Counted by this process alone. */

export interface Bandwidth {
  /**
   * Takes the bytes of an answer while anything is left, so that one answer is never cut; returns after how many seconds to ask again, 0
   * when it was allowed.
   */
  take(network: string, bytes: number): number;
  /** What was not sent after all. */
  giveBack(network: string, bytes: number): void;
}

interface Account {
  left: number;
  at: number;
}

const HOUR_MS = 3_600_000;
/** No answer is free: this many requests at least exhaust an allowance. */
const LEAST_BYTES = 512;
/** Accounts that are kept before the full ones among them are dropped. */
const MOST_ACCOUNTS = 10_000;

export function createBandwidth(
  bytesPerHour: number,
  now: () => number = performance.now.bind(performance),
): Bandwidth {
  const accounts = new Map<string, Account>();
  const leftAt = ({ left, at }: Account, moment: number) =>
    Math.min(bytesPerHour, left + ((moment - at) / HOUR_MS) * bytesPerHour);

  function accountOf(network: string): Account {
    const moment = now();
    const known = accounts.get(network);
    if (known) {
      known.left = leftAt(known, moment);
      known.at = moment;
      return known;
    }
    if (accounts.size >= MOST_ACCOUNTS) {
      for (const [name, account] of accounts) if (leftAt(account, moment) >= bytesPerHour) accounts.delete(name);
    }
    const account = { left: bytesPerHour, at: moment };
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
  };
}
