/** getidentityhistory with one to three parameters: every state of an identity, from the index. */

import { isIdentityAddress } from '../../domain/addresses.ts';
import { daemonString } from '../../domain/json/raw-json.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { INT32_MAX } from '../../schemas/integers.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import type { WorkOwner } from '../access/priority-lanes.ts';
import { inTurns } from '../state/in-turns.ts';
import { ALLOWED, measuredRows } from '../state/measured-rows.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { type AnswerMethod, leadingInteger } from './index-methods.ts';
import { RpcError } from './rpc-error.ts';

/** Resolves `alice@`, `sub.alice@` or `alice.VRSC@` on a chain to an i-address; returns null for a text that cannot be a name. */
export type ResolveName = (chain: string, name: string) => string | null;

/** Reads for one answer, each statement within its time limit; `work` may run again. */
export type WithRows = <T>(work: (read: Pick<Snapshot, 'rows' | 'row'>) => Promise<T>, owner: WorkOwner) => Promise<T>;

const HISTORY = {
  columns: 'i.state, i.from_height, i.txid, i.vout, b.hash',
  bytes: 'octet_length(i.state::text)',
  from: `FROM identities i JOIN blocks b ON b.chain = i.chain AND b.height = i.from_height
    WHERE i.chain = $1 AND i.identity_address = $2 AND i.from_height BETWEEN $3 AND $4`,
  order: 'i.from_height, i.tx_index, i.vout',
};
const KNOWN_SQL =
  'SELECT identity_address FROM identities WHERE chain = $1 AND identity_address = $2 AND from_height <= $3 LIMIT 1';

const readKnown = rowReader({ identity_address: columns.text });
const readState = rowReader({
  from_height: columns.number,
  ...storedColumns(DEFINITIONS.identity, ['state', 'txid', 'vout']),
  ...storedColumns(DEFINITIONS.block, ['hash']),
});

const printState = ({ state, from_height, txid, vout, hash }: RowRead<typeof readState>): string =>
  `{"identity":${state},"blockhash":"${hash}","height":${from_height},"output":{"txid":"${txid}","voutnum":${vout}}}`;

export function createIdentityHistory(withRows: WithRows, resolveName: ResolveName): AnswerMethod {
  function addressOf(chain: string, text: string): string {
    const name = text.startsWith('"') ? String(JSON.parse(text)) : '';
    if (isIdentityAddress(name)) return name;
    const address = name.includes('@') ? resolveName(chain, name) : null;
    if (address !== null) return address;
    const message = `Identity parameter must be valid friendly name or identity address: ${daemonString(name)}`;
    throw new RpcError(RPC_CODES.invalidParameter, message);
  }

  return async (chain, [name = '', start = '0', heightEnd = '0'], owner) => {
    const address = addressOf(chain, name);
    const from = Math.max(0, leadingInteger(start));
    const end = leadingInteger(heightEnd);
    const last = end <= 0 ? INT32_MAX : end;
    const values = [chain, address, from, last];
    const rows = await withRows(async (read) => {
      const states = await measuredRows(read, readState, { ...HISTORY, values });
      if (states?.length === 0 && (await read.row(readKnown, KNOWN_SQL, [chain, address, last])) === undefined) {
        throw new RpcError(RPC_CODES.invalidAddressOrKey, 'Identity not found');
      }
      return states;
    }, owner);
    if (rows === null) {
      const message = `More than ${ALLOWED} in one call: ask for fewer heights with heightstart and heightend`;
      throw new RpcError(RPC_CODES.invalidParameter, message);
    }
    return `[${(await inTurns(rows, printState)).join(',')}]`;
  };
}
