/** The three methods that are answered from the index, without a daemon. */

import type { BlockRef } from '../../domain/block-ref.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { INT32_MAX } from '../../schemas/integers.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import type { Asker } from '../access/answer-memory.ts';
import { usageOf } from './help.ts';
import { RpcError } from './rpc-error.ts';

/** Result text of a call on a chain. Throws RpcError. */
export type AnswerMethod = (chain: string, texts: readonly string[], asker: Asker) => Promise<string>;

const TIP_SQL = 'SELECT height, hash FROM blocks WHERE chain = $1 ORDER BY height DESC LIMIT 1';
const HASH_SQL = 'SELECT hash FROM blocks WHERE chain = $1 AND height = $2';
const readHash = rowReader(storedColumns(DEFINITIONS.block, ['hash']));
const readTip = rowReader({ height: columns.number, ...storedColumns(DEFINITIONS.block, ['hash']) });

/** Like the daemon's get_int: reads a JSON number without fraction or exponent that fits in 32 bits. */
export function rpcInteger(text: string): number {
  if (!/^[-\d]/.test(text)) throw new RpcError(RPC_CODES.misc, 'JSON value is not an integer as expected');
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= -INT32_MAX - 1 && value <= INT32_MAX)) throw new RpcError(RPC_CODES.misc, 'JSON integer out of range');
  return value;
}

/** Like the daemon's uni_get_int64 for a height: reads the leading integer of a number or text, wrapped to 32 bits; 0 without one. */
export function leadingInteger(text: string): number {
  const digits = /^"? *([-+]?\d+)/.exec(text)?.[1];
  return digits === undefined ? 0 : Number(BigInt.asIntN(32, BigInt(digits)));
}

export function createIndexMethods(postgres: Postgres): Readonly<Record<string, AnswerMethod>> {
  function expectCount(method: string, texts: readonly string[], count: number): void {
    if (texts.length !== count) throw new RpcError(RPC_CODES.misc, usageOf(method));
  }

  async function tip(chain: string): Promise<BlockRef> {
    const row = await readRow(postgres.pool, readTip, TIP_SQL, [chain]);
    if (row === undefined) throw new RpcError(RPC_CODES.inWarmUp, 'No block is indexed yet');
    return row;
  }

  return {
    async getblockcount(chain, texts) {
      expectCount('getblockcount', texts, 0);
      return String((await tip(chain)).height);
    },
    async getbestblockhash(chain, texts) {
      expectCount('getbestblockhash', texts, 0);
      return `"${(await tip(chain)).hash}"`;
    },
    async getblockhash(chain, texts) {
      expectCount('getblockhash', texts, 1);
      const height = rpcInteger(texts[0] ?? '');
      const row = await readRow(postgres.pool, readHash, HASH_SQL, [chain, height]);
      if (row === undefined) throw new RpcError(RPC_CODES.invalidParameter, 'Block height out of range');
      return `"${row.hash}"`;
    },
  };
}
