/** Block time, shares of staked and mined blocks, and coins in baskets, as of a height. */
import { LosslessNumber } from 'lossless-json';
import { isLiveBasket } from '../../../domain/basket-liveness.ts';
import { parseReserves } from '../../../domain/reserves.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { ratio } from '../../http/values.ts';
import type { Snapshot } from '../../state/snapshot.ts';

export const readWindow = rowReader({
  blocks: columns.bigint,
  staked: columns.bigint,
  tip_time: columns.nullable(columns.bigint),
  start_time: columns.nullable(columns.bigint),
});
type WindowRecord = RowRead<typeof readWindow>;

const readReserves = rowReader(storedColumns(DEFINITIONS.currency_state, ['flags', 'reserves']));

const RATIO_BLOCKS = 1000;
const TIME_BLOCKS = 100;

/** Figures of the last 1,000 blocks of chain $1 up to height $2. */
export const WINDOW_SQL = `SELECT count(*) AS blocks, count(*) FILTER (WHERE validation_type = 'stake') AS staked,
    max(time) FILTER (WHERE height = $2) AS tip_time, max(time) FILTER (WHERE height = $2 - ${TIME_BLOCKS}) AS start_time
  FROM blocks WHERE chain = $1 AND height > $2 - ${RATIO_BLOCKS} AND height <= $2`;

/** The last state of each currency of the chain $1 up to the height $2. */
const RESERVES_SQL = `SELECT last.flags, last.reserves
  FROM (SELECT currency_id FROM currency_states WHERE chain = $1 AND to_height IS NULL) AS stated
  CROSS JOIN LATERAL (SELECT flags, reserves FROM currency_states
    WHERE chain = $1 AND currency_id = stated.currency_id AND from_height <= $2
    ORDER BY from_height DESC, tx_index DESC, vout DESC LIMIT 1) AS last`;

/** Satoshis of a currency in the baskets of a chain that were live at a height. */
export async function inPools(read: Snapshot, chain: string, currencyId: string, height: number): Promise<bigint> {
  const states = await read.rows(readReserves, RESERVES_SQL, [chain, height]);
  let sum = 0n;
  for (const { flags, reserves } of states) {
    if (!isLiveBasket(flags)) continue;
    for (const reserve of parseReserves(reserves)) if (reserve.currencyId === currencyId) sum += reserve.reserves;
  }
  return sum;
}

/** Shares of proof-of-stake and of proof-of-work blocks. */
export function stakeRatios(window: WindowRecord | undefined) {
  if (!window || window.blocks === 0n) return { posRatio: null, powRatio: null };
  const { blocks, staked } = window;
  return { posRatio: ratio(staked, blocks), powRatio: ratio(blocks - staked, blocks) };
}

/** Seconds; null while the chain is shorter than the window. */
export function averageBlockTime(window: WindowRecord | undefined): LosslessNumber | null {
  if (!window || window.start_time === null || window.tip_time === null) return null;
  return new LosslessNumber(String(Number(window.tip_time - window.start_time) / TIME_BLOCKS));
}
