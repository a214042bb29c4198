/** getbridgetransfers: the newest transfers between the chain and other systems. */

import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { bridgeAnswers, bridgeSql, readBridged } from '../../rest/bridge/bridge-rows.ts';
import { BRIDGE_DIRECTIONS } from '../../rest/bridge/schema.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { RpcError } from '../rpc-error.ts';
import { addressesOf } from './addresses.ts';
import { type Arguments, integerOf, readArguments, type Signature, textOf } from './arguments.ts';
import type { Extension } from './extension.ts';

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 200;

const SIGNATURE: Signature = {
  method: 'getbridgetransfers',
  positions: [],
  required: 0,
  members: ['limit', 'direction', 'address'],
};

function directionOf(given: Arguments) {
  const text = given.get('direction');
  if (text === undefined) return undefined;
  const asked = textOf(text);
  const direction = BRIDGE_DIRECTIONS.find((known) => known === asked);
  if (!direction) throw new RpcError(RPC_CODES.invalidParameter, `direction is ${BRIDGE_DIRECTIONS.join(' or ')}`);
  return direction;
}

export const bridgeTransfers: Extension = async ({ api, chain, read, texts }) => {
  const given = readArguments(texts, SIGNATURE);
  const limit = integerOf(given.get('limit'), DEFAULT_LIMIT);
  if (limit < 1) throw new RpcError(RPC_CODES.invalidParameter, 'limit begins at 1');
  const direction = directionOf(given);
  const [address] = given.has('address') ? addressesOf(chain, given) : [];
  tipHeight(read, chain.name);
  const chains = api.config.chains.map(({ name }) => name);
  const { sql, values } = bridgeSql({ state: read.state, chain: chain.name, chains, direction, address });
  const newest = `${sql} ORDER BY t.request_height DESC, t.txid, t.vout LIMIT $${values.length + 1}`;
  return bridgeAnswers(read, api, await read.rows(readBridged, newest, [...values, Math.min(limit, MAX_LIMIT)]));
};
