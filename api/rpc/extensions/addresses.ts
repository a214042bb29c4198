/** Reads the addresses of parameters. */
import type { ChainConfig } from '../../../schemas/config.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { ApiError } from '../../http/api-error.ts';
import { resolveAddress } from '../../state/addresses.ts';
import { RpcError } from '../rpc-error.ts';
import { type Arguments, textOf, textsOf } from './arguments.ts';

const MAX_ADDRESSES = 100;

/** Resolves an R-address, i-address or name@ to an address. @throws RpcError -5 */
function addressOf(chain: ChainConfig, text: string): string {
  try {
    return resolveAddress(chain, text);
  } catch (error) {
    if (error instanceof ApiError) throw new RpcError(RPC_CODES.invalidAddressOrKey, 'Invalid address');
    throw error;
  }
}

/** Returns the member `address`, or the members of `addresses` without duplicates. @throws RpcError */
export function addressesOf(chain: ChainConfig, given: Arguments): readonly string[] {
  const list = given.get('addresses');
  const asked = list === undefined ? [textOf(given.get('address'))] : textsOf(list);
  if (asked.length === 0 || asked.length > MAX_ADDRESSES) {
    throw new RpcError(RPC_CODES.invalidParameter, `addresses: from 1 to ${MAX_ADDRESSES}`);
  }
  return [...new Set(asked.map((text) => addressOf(chain, text)))];
}
