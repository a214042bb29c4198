/** Looks up waiting transactions in the index, all in one snapshot. */
import type { Pool } from 'pg';
import type { BlockRef } from '../../domain/block-ref.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { outpointKey, type SeenIndex } from '../../processors/mempool/mempool-state.ts';
import type { OutPoint } from '../../processors/state/referenced-keys.ts';
import { listOf, listParam } from '../sinks/postgres/list-param.ts';

export interface IndexRequest {
  /** Transactions that may have been mined. */
  readonly txids: readonly string[];
  /** Outputs that may be spent. */
  readonly outpoints: readonly OutPoint[];
  /** Blocks that the index's chain may contain. */
  readonly hashes: readonly string[];
}

const readSeen = rowReader({
  what: columns.choice(['tip', 'mined', 'spender', 'reached']),
  txid: columns.nullable(columns.text),
  n: columns.nullable(columns.number),
  spender: columns.nullable(columns.text),
  height: columns.number,
  hash: columns.text,
});

/** One statement is one snapshot. Each key is looked up on its own, so that missing statistics do not make it slow. */
const SQL = `SELECT 'tip' AS what, NULL::bytea AS txid, NULL::integer AS n, NULL::bytea AS spender, height, hash
    FROM ${positionsOf('derive')} AS position WHERE chain = $1
  UNION ALL SELECT 'mined', t.txid, NULL, NULL, t.height, b.hash FROM unnest(${listOf('$2')}) AS wanted(txid)
    CROSS JOIN LATERAL (SELECT txid, height FROM transactions
      WHERE chain = $1 AND txid = decode(wanted.txid, 'hex') LIMIT 1) AS t
    JOIN blocks b ON b.chain = $1 AND b.height = t.height
  UNION ALL SELECT 'spender', o.txid, o.n, o.spent_txid, o.to_height, b.hash
    FROM unnest(${listOf('$3')}, ${listOf('$4')}::integer[]) AS wanted(txid, n)
    CROSS JOIN LATERAL (SELECT txid, n, spent_txid, to_height FROM outputs
      WHERE chain = $1 AND txid = decode(wanted.txid, 'hex') AND n = wanted.n AND spent_txid IS NOT NULL LIMIT 1) AS o
    JOIN blocks b ON b.chain = $1 AND b.height = o.to_height
  UNION ALL SELECT 'reached', NULL, NULL, NULL, b.height, b.hash FROM unnest(${listOf('$5')}) AS wanted(hash)
    JOIN blocks b ON b.chain = $1 AND b.hash = decode(wanted.hash, 'hex')`;

export async function lookAtIndex(pool: Pool, chain: string, asked: IndexRequest): Promise<SeenIndex> {
  const text = (key: string) => key;
  const rows = await readRows(pool, readSeen, SQL, [
    chain,
    listParam(asked.txids, text),
    listParam(asked.outpoints, ({ txid }) => txid),
    listParam(asked.outpoints, ({ n }) => n),
    listParam(asked.hashes, text),
  ]);
  let tip: BlockRef | null = null;
  const mined = new Map<string, BlockRef>();
  const spenders = new Map<string, BlockRef & { readonly txid: string }>();
  const reached = new Set<string>();
  for (const { what, txid, n, spender, height, hash } of rows) {
    if (what === 'tip') tip = { height, hash };
    else if (what === 'reached') reached.add(hash);
    else if (what === 'mined' && txid !== null) mined.set(txid, { height, hash });
    else if (txid !== null && n !== null && spender !== null) {
      spenders.set(outpointKey({ txid, n }), { txid: spender, height, hash });
    }
  }
  return { tip, mined, spenders, reached };
}

/** Returns the newest block of the index. */
export async function indexTip(pool: Pool, chain: string): Promise<BlockRef | null> {
  return (await lookAtIndex(pool, chain, { txids: [], outpoints: [], hashes: [] })).tip;
}
