/** coinsupply and getsnapshot. */
import { truth } from '../api/truth.ts';
import { NATIVE } from '../laws/replay.ts';
import { canonical, coins, decimal, type Members } from './canonical.ts';
import type { Comparison } from './comparison.ts';
import { answersOf, tip } from './recorded-answers.ts';

/** Native coins in outputs that nobody has spent; those of genesis never were money. */
const TRANSPARENT_SQL = `SELECT coalesce(sum(value), 0) AS total FROM outputs
  WHERE chain = $1 AND from_height BETWEEN 1 AND $2 AND (to_height IS NULL OR to_height > $2)`;

const supply: Comparison = {
  method: 'coinsupply',
  async *answers({ postgres, chain }) {
    for (const { name, params, result } of answersOf('coinsupply')) {
      const told = result as Members;
      if (told.result !== 'success') continue;
      const height = Number(params[0] ?? tip);
      const { rows } = await postgres.pool.query<{ total: string }>(TRANSPARENT_SQL, [chain, height]);
      yield { asked: name, expected: canonical(told.supply), ours: canonical(coins(rows[0]?.total ?? '0')) };
    }
  },
};

const HOLDERS_SQL = `SELECT a.address, coalesce(b.balance, 0) AS balance
  FROM (SELECT DISTINCT address FROM address_activity WHERE chain = $1) a
  LEFT JOIN balances b ON b.chain = $1 AND b.address = a.address AND b.currency_id = $2 AND b.to_height IS NULL`;

const snapshot: Comparison = {
  method: 'getsnapshot',
  async *answers({ postgres, chain }) {
    const { rows } = await postgres.pool.query<{ address: string; balance: bigint }>(HOLDERS_SQL, [chain, NATIVE]);
    const own = new Map(rows.map(({ address, balance }) => [address, decimal(BigInt(balance))]));
    const { addresses } = truth('richlist.json.gz').getsnapshot as { addresses: { addr: string; amount: string }[] };
    for (const { addr, amount } of addresses) {
      // An x-address is a key of the daemon's index, which no output lists.
      if (addr.startsWith('x')) continue;
      yield { asked: addr, expected: amount, ours: own.get(addr) ?? 'unknown' };
    }
  },
};

export const supplyComparisons: readonly Comparison[] = [supply, snapshot];
