/** The supply of a chain's own coin, computed from the index. */

import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import type { ApiContext } from '../api-context.ts';
import { HeadedValue } from '../http/route.ts';
import type { Snapshot } from './snapshot.ts';

export interface Supply {
  /** Satoshis in unspent outputs. */
  readonly transparent: bigint;
  readonly shielded: bigint;
}

const CHANGES_SQL = `SELECT sum(transparent_change) AS transparent, countIf(transparent_change IS NULL) AS unknown
  FROM blocks WHERE chain = {chain: String} AND height <= {height: UInt32} AND position <= {position: UInt64}`;
const readChanges = rowReader({ transparent: columns.nullable(columns.text), unknown: columns.text });
const SHIELDED_SQL = 'SELECT shielded_supply FROM blocks WHERE chain = $1 AND height = $2';
const readShielded = rowReader(storedColumns(DEFINITIONS.block, ['shieldedSupply']));

/** Returns null if rows of an older version lack the values, or the daemon does not track every pool. */
export async function supplyAt(read: Snapshot, api: ApiContext, chain: string, height: number): Promise<Supply | null> {
  const row = await read.row(readShielded, SHIELDED_SQL, [chain, height]);
  const shielded = row?.shielded_supply ?? null;
  if (shielded === null) return null;
  const position = read.state.derived.get(chain)?.position ?? 0;
  const values = { chain, height, position };
  const changes = await api.memo.get(`supply ${chain} ${height}`, read.state.factsTag(chain), async () => {
    const [found] = await api.clickhouse.rows(readChanges, CHANGES_SQL, values);
    return found;
  });
  if (!changes || changes.transparent === null || Number(changes.unknown) > 0) return null;
  return { transparent: BigInt(changes.transparent), shielded };
}

/** Call it after the snapshot is closed. Returns null when the supply is not known. @throws the daemon's error */
export type Issued = () => Promise<bigint | null>;

/** All coins issued up to the tip of the index; asks the daemon if the index lacks values. */
export async function issuedSupply(read: Snapshot, api: ApiContext, chain: string, tip: number): Promise<Issued> {
  const supply = await supplyAt(read, api, chain, tip);
  return async () => (supply ? supply.transparent + supply.shielded : api.figures.supply(api.chain(chain), tip));
}

/** For an answer that contains more than the supply: while the daemon is unreachable the supply is null, and the answer is not cached. */
export async function withSupply<T>(
  issued: Issued,
  answer: (supply: bigint | null) => T | Promise<T>,
): Promise<HeadedValue<T>> {
  let [supply, isAway]: [bigint | null, boolean] = [null, false];
  try {
    supply = await issued();
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    isAway = true; // DaemonFigures has logged it
  }
  return new HeadedValue(await answer(supply), {}, isAway);
}
