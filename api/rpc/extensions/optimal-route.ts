/** getoptimalroute: the best routes from one currency to another by the daemon's estimates, largest output first. */

import { coinsToSatoshis } from '../../../domain/satoshi.ts';
import { VerustreamError } from '../../../schemas/errors.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { bestConversion } from '../../rest/market/best-conversion.ts';
import { readMarket } from '../../rest/market/live-baskets.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { internalError, RpcError } from '../rpc-error.ts';
import { readArguments, type Signature, textOf } from './arguments.ts';
import type { Extension } from './extension.ts';

const SIGNATURE: Signature = {
  method: 'getoptimalroute',
  positions: ['from', 'to', 'amount'],
  required: 3,
};

/** Largest amount of any currency in the daemon: 10^10 coins. */
const MAX_SATOSHIS = 10n ** 18n;

/** Bounded in length, because a large exponent could denote a number that exceeds memory. */
const COINS = /^-?\d{1,18}(\.\d{1,8})?([eE]-?\d)?$/;

/** Reads coins, as a number or as text like the daemon does, and returns satoshis. @throws RpcError -3 */
function amountOf(text: string | undefined): bigint {
  const refused = (message: string) => new RpcError(RPC_CODES.typeError, message);
  if (!text || !/^["\d-]/.test(text)) throw refused('Amount is not a number or string');
  const written = text.startsWith('"') ? textOf(text) : text;
  if (!COINS.test(written)) throw refused('Invalid amount');
  const amount = satoshisOf(written);
  if (amount === null || amount <= 0n || amount > MAX_SATOSHIS) throw refused('Amount out of range');
  return amount;
}

/** Returns null for a fraction of a satoshi. */
function satoshisOf(written: string): bigint | null {
  try {
    return coinsToSatoshis(written);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export const optimalRoute: Extension = async ({ api, chain, read, texts }) => {
  const given = readArguments(texts, SIGNATURE);
  const amount = amountOf(given.get('amount'));
  const [fromName, toName] = [textOf(given.get('from')), textOf(given.get('to'))];
  tipHeight(read, chain.name);
  const market = await readMarket(read, api);
  const idOf = (name: string): string => {
    const entry = market.currencies.find(name, chain);
    if (!entry) throw new RpcError(RPC_CODES.invalidParameter, 'Invalid currency or currency not found');
    return entry.currencyId;
  };
  const request = { from: idOf(fromName), to: idOf(toName), amount };
  const baskets = market.baskets.filter((basket) => basket.chain === chain.name);
  const daemon = api.daemons.get(chain.name);
  if (!daemon) throw new TypeError(`chain ${chain.name} has no daemon`);
  return async () => {
    const best = await bestConversion(request, { baskets, currencies: market.currencies, daemon }).catch(
      (error: unknown) => {
        throw error instanceof VerustreamError ? internalError(error) : error;
      },
    );
    if (best) return { chain: chain.name, ...best };
    throw new RpcError(RPC_CODES.invalidParameter, 'Source currency cannot be converted to destination');
  };
};
