/** Unspent outputs. */
import type { Journal } from './journal.ts';
import type { Random } from './random.ts';

/** i-address → satoshis, without the native coin. */
export type Tokens = ReadonlyMap<string, bigint>;
export const NO_TOKENS: Tokens = new Map();

export interface Coin {
  readonly txid: string;
  readonly n: number;
  readonly value: bigint;
  readonly tokens: Tokens;
  /** The address that the daemon shows on the input that spends the coin. */
  readonly address: string;
  /** Purse that contains it while it is unspent; null for a coin that only the protocol spends. */
  readonly purse: Purse | null;
  /** Index in the purse, 0 without a purse; -1 while there is no such unspent output. */
  place: number;
}

/** Coins of one currency that wallets can spend. */
export interface Purse {
  readonly size: number;
  /** Returns a random coin without taking it. */
  any(random: Random): Coin | undefined;
  put(coin: Coin): void;
  take(coin: Coin): void;
}

export function createPurse(): Purse {
  const coins: Coin[] = [];
  return {
    get size() {
      return coins.length;
    },
    any: (random) => coins[random.below(coins.length)],
    put(coin) {
      coin.place = coins.length;
      coins.push(coin);
    },
    take(coin) {
      const last = coins.pop();
      if (last && last !== coin) {
        coins[coin.place] = last;
        last.place = coin.place;
      }
      coin.place = -1;
    },
  };
}

export interface Coins {
  /** Adds an unspent output. */
  make(coin: Coin): void;
  spend(coin: Coin): void;
  /** Purse for coins with this currency, possibly among others; null: only native coins. */
  purse(currencyId: string | null): Purse;
}

export function createCoins(journal: Journal): Coins {
  const purses = new Map<string | null, Purse>();
  const put = (coin: Coin): void => {
    if (coin.purse) coin.purse.put(coin);
    else coin.place = 0;
  };
  const take = (coin: Coin): void => {
    if (coin.place < 0) throw new RangeError(`${coin.txid}:${coin.n} is not unspent`);
    if (coin.purse) coin.purse.take(coin);
    else coin.place = -1;
  };
  return {
    make(coin) {
      put(coin);
      if (journal.keeps) journal.did(() => take(coin));
    },
    spend(coin) {
      take(coin);
      if (journal.keeps) journal.did(() => put(coin));
    },
    purse(currencyId) {
      let purse = purses.get(currencyId);
      if (!purse) {
        purse = createPurse();
        purses.set(currencyId, purse);
      }
      return purse;
    },
  };
}
