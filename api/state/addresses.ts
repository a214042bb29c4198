/** Resolves an address or a name in a request to an address. */

import { isTransparentAddress } from '../../domain/addresses.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { parameterError } from '../http/api-error.ts';
import { pathParameter } from '../http/parameters.ts';
import { writtenAddress } from '../schema/json-schema.ts';
import { nameAddress } from './name-address.ts';

export const addressParameter = pathParameter('R-address, i-address or name@', writtenAddress);

/** `parameter`: name of the input, for the error. @throws ApiError invalid_parameter for a text that is neither an address nor `name@` */
export function resolveAddress(chain: ChainConfig, text: string, parameter = 'addr'): string {
  if (isTransparentAddress(text)) return text;
  const named = text.includes('@') ? nameAddress(text, chain.networkRoot) : null;
  if (named !== null) return named;
  const why = text.startsWith('zs1')
    ? 'a shielded address has no public history'
    : 'neither an address nor a name with @';
  throw parameterError(parameter, `${JSON.stringify(text)} is ${why}`);
}
