/**
 * Methods of the daemon whose answer or work depends on its wallet: keys, coins, addresses, ratings. Taken from the daemon's source
 * (1.2.16). Not listed: methods that only print canspendfor and cansignfor, which this service sets to false (getidentity and
 * similar), and getinfo, which reveals only the age of the wallet's key pool.
 */
import { I_ADDRESS } from '../../domain/addresses.ts';
import { rawStrings } from '../../domain/json/raw-json.ts';
import type { RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';

/** `reads`: the method checks whether there is a wallet. `needs`: it assumes a wallet, so the call crashes a daemon without one. */
export type WalletUse = 'reads' | 'needs';

export const WALLET_METHODS: Readonly<Record<string, WalletUse>> = {
  createmultisig: 'reads',
  decryptdata: 'reads',
  getcurrencybalance: 'reads',
  getcurrencytrust: 'needs',
  getidentitytrust: 'needs',
  listidentities: 'needs',
  listopenoffers: 'needs',
  recoveridentity: 'needs',
  registeridentity: 'needs',
  revokeidentity: 'needs',
  sendcurrency: 'needs',
  setidentitytimelock: 'needs',
  updateidentity: 'needs',
  validateaddress: 'reads',
  verifysignature: 'needs',
};

/** Returns null if the call does not use the wallet. */
export function walletUse(request: Pick<RpcRequest, 'method' | 'params'>): WalletUse | null {
  if (!Object.hasOwn(WALLET_METHODS, request.method)) return null;
  if (request.method === 'verifysignature' && isOfIdentity(request.params)) return null;
  return WALLET_METHODS[request.method] ?? null;
}

const IDENTITY = new RegExp(`^(${I_ADDRESS}|[^@]*[^@\\s]@)$`);

/** The daemon compares a signature of a transparent address with the wallet's own key, but not a signature of an identity. */
function isOfIdentity(params: string): boolean {
  const strings = [...rawStrings(params)];
  const places = strings.flatMap(({ value, isKey }, index) => (isKey && value === 'address' ? [index] : []));
  const [place, another] = places;
  const address = place === undefined ? undefined : strings[place + 1];
  return another === undefined && address?.isKey === false && IDENTITY.test(address.value);
}
