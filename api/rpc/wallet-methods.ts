/**
 * The methods of the daemon whose answer, or work, depends on what its wallet holds: keys, coins, addresses, ratings. Read from the
 * daemon's source (1.2.16). Not among them are those that only print what we set to false (getidentity and its like: canspendfor,
 * cansignfor) and getinfo, which tells no more than the age of the wallet's key pool.
 */
import { I_ADDRESS } from '../../domain/addresses.ts';
import { rawStrings } from '../../domain/json/raw-json.ts';
import type { RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';

/**
 * `reads`: it looks whether there is a wallet. `needs`: it takes the wallet for granted, so the call ends a daemon that runs
 * without one.
 */
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

/** Null: the call leaves the wallet alone. */
export function walletUse(request: Pick<RpcRequest, 'method' | 'params'>): WalletUse | null {
  if (!Object.hasOwn(WALLET_METHODS, request.method)) return null;
  if (request.method === 'verifysignature' && isOfIdentity(request.params)) return null;
  return WALLET_METHODS[request.method] ?? null;
}

const IDENTITY = new RegExp(`^(${I_ADDRESS}|[^@]*[^@\\s]@)$`);

/** A signature of a transparent address is compared with the wallet's own key; one of an identity is not. */
function isOfIdentity(params: string): boolean {
  const strings = [...rawStrings(params)];
  const places = strings.flatMap(({ value, isKey }, index) => (isKey && value === 'address' ? [index] : []));
  const [place, another] = places;
  const address = place === undefined ? undefined : strings[place + 1];
  return another === undefined && address?.isKey === false && IDENTITY.test(address.value);
}
