/** getidentityhistory with one to three parameters: every state of an identity, from the index. */

import { isIdentityAddress } from '../../domain/addresses.ts';
import { daemonString } from '../../domain/json/raw-json.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import { type AnswerMethod, rpcInteger } from './index-methods.ts';
import { RpcError } from './rpc-error.ts';

/** `alice@`, `sub.alice@`, `alice.VRSC@` on this chain → i-address; null for a text that cannot be a name. */
export type ResolveName = (chain: string, name: string) => string | null;

const HISTORY_SQL = `SELECT i.state, i.from_height, i.txid, i.vout, b.hash FROM identities i
  JOIN blocks b ON b.chain = i.chain AND b.height = i.from_height
  WHERE i.chain = $1 AND i.identity_address = $2 AND i.from_height BETWEEN $3 AND $4
  ORDER BY i.from_height, i.tx_index, i.vout`;
const KNOWN_SQL = 'SELECT 1 FROM identities WHERE chain = $1 AND identity_address = $2 LIMIT 1';
const MAX_INT = 2 ** 31 - 1;

const readState = rowReader({
  from_height: columns.number,
  ...storedColumns(DEFINITIONS.identity, ['state', 'txid', 'vout']),
  ...storedColumns(DEFINITIONS.block, ['hash']),
});

const printState = ({ state, from_height, txid, vout, hash }: RowRead<typeof readState>): string =>
  `{"identity":${state},"blockhash":"${hash}","height":${from_height},"output":{"txid":"${txid}","voutnum":${vout}}}`;

export function createIdentityHistory(postgres: Postgres, resolveName: ResolveName): AnswerMethod {
  function addressOf(chain: string, text: string): string {
    const name = text.startsWith('"') ? String(JSON.parse(text)) : '';
    if (isIdentityAddress(name)) return name;
    const address = name.includes('@') ? resolveName(chain, name) : null;
    if (address !== null) return address;
    const message = `Identity parameter must be valid friendly name or identity address: ${daemonString(name)}`;
    throw new RpcError(RPC_CODES.invalidParameter, message);
  }

  return async (chain, [name = '', start = '0', end = '0']) => {
    const address = addressOf(chain, name);
    const from = Math.max(0, rpcInteger(start));
    const last = rpcInteger(end);
    const values = [chain, address, from, last <= 0 ? MAX_INT : last];
    const rows = await readRows(postgres.pool, readState, HISTORY_SQL, values);
    if (rows.length === 0 && (await postgres.pool.query(KNOWN_SQL, [chain, address])).rowCount === 0) {
      throw new RpcError(RPC_CODES.invalidAddressOrKey, 'Identity not found');
    }
    return `[${rows.map(printState).join(',')}]`;
  };
}
