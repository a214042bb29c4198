/** coinsupply and getsnapshot. */
import { columns, rowReader } from '../../infra/row-reader.ts';
import { truth } from '../api/truth.ts';
import { canonical, coins, decimal, type Members } from './canonical.ts';
import type { EqualityComparison, Ours } from './comparison.ts';
import { answersOf, tip } from './recorded-answers.ts';

/** Blocks until a coinbase is mature. */
const MATURITY = 100;
const SUPPLY_SQL = `SELECT sum(transparent_change) AS transparent,
    sum(CASE WHEN height > {height: UInt32} - {maturity: UInt32} AND height > 0 THEN reward ELSE 0 END) AS immature,
    argMax(shielded_supply, height) AS shielded
  FROM blocks WHERE chain = {chain: String} AND height <= {height: UInt32}`;

const readSupply = rowReader({ transparent: columns.text, immature: columns.text, shielded: columns.text });

export async function supplyAt({ clickhouse, chain, root }: Ours, height: number): Promise<Members> {
  const [row] = await clickhouse.rows(readSupply, SUPPLY_SQL, { chain, height, maturity: MATURITY });
  const { transparent = '0', immature = '0', shielded = '0' } = row ?? {};
  return {
    result: 'success',
    coin: root,
    height,
    supply: coins(transparent),
    immature: coins(immature),
    zfunds: coins(shielded),
    total: coins(BigInt(transparent) + BigInt(shielded)),
  };
}

const supply: EqualityComparison = {
  method: 'coinsupply',
  async *answers(ours) {
    for (const { name, params, result } of answersOf('coinsupply')) {
      const answer = result as Members;
      if (answer.result !== 'success') continue;
      const own = await supplyAt(ours, Number(params[0] ?? tip));
      yield { asked: name, expected: canonical(answer), ours: canonical(own) };
    }
  },
};

const HOLDERS_SQL = `SELECT a.address, coalesce(b.balance, 0) AS balance
  FROM (SELECT DISTINCT address FROM address_activity WHERE chain = $1) a
  LEFT JOIN balances b ON b.chain = $1 AND b.address = a.address AND b.currency_id = $2 AND b.to_height IS NULL`;

const snapshot: EqualityComparison = {
  method: 'getsnapshot',
  async *answers({ postgres, chain, native }) {
    const { rows } = await postgres.pool.query<{ address: string; balance: bigint }>(HOLDERS_SQL, [chain, native]);
    const own = new Map(rows.map(({ address, balance }) => [address, decimal(BigInt(balance))]));
    const { addresses } = truth('richlist.json.gz').getsnapshot as { addresses: { addr: string; amount: string }[] };
    for (const { addr, amount } of addresses) {
      // An x-address is a key of the daemon's index and not an address of any output.
      if (addr.startsWith('x')) continue;
      yield { asked: addr, expected: amount, ours: own.get(addr) ?? 'unknown' };
    }
  },
};

export const supplyComparisons: readonly EqualityComparison[] = [supply, snapshot];
