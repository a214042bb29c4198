/** What must not reach a daemon that strangers may call. A guard throws RpcError, or lets the call through. */
import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { rawStrings } from '../../schemas/raw-json.ts';
import { RPC_CODES, type RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import { methodNotFound, RpcError } from './rpc-error.ts';

export interface GuardedChain {
  readonly rootCurrency: string;
  /** i-address of the chain's own currency, as its daemon names it. */
  chainId(): Promise<string>;
}

export type Guard = (request: RpcRequest, chain: GuardedChain) => void | Promise<void>;

const IDENTITY_VERSION = 102;
const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** Without the flag these methods spend or write with the node's keys, so for the public they do not exist. */
export function onlyWithReturntx(position: number): Guard {
  return ({ texts }) => {
    if (texts[position] !== 'true') throw methodNotFound();
  };
}

/** A member `filename`, at any depth, makes the daemon read that file of its own disk. Holds for every method. */
export const filenameGuard: Guard = ({ params }) => {
  for (const { value, isKey } of rawStrings(params)) {
    if (isKey && value === 'filename') {
      throw new RpcError(RPC_CODES.invalidParameter, 'filename is not served: it would be read on the server');
    }
  }
};

const SHIELDED = /^z[0-9a-z]{60,}$/i;

/** Balances of shielded addresses are known to nobody but the node's wallet. */
export const addressGuard: Guard = ({ params }) => {
  for (const { value, isKey } of rawStrings(params)) {
    if (!isKey && (SHIELDED.test(value) || value.endsWith(':private'))) {
      throw new RpcError(RPC_CODES.invalidAddressOrKey, 'Balances of z-addresses are not served');
    }
  }
};

const unknownCurrency = () => new RpcError(RPC_CODES.invalidParameter, 'Invalid chain name or chain ID');

/** Both byte orders of 20 bytes as i-addresses; none for other hex, of which the daemon reads what it can. */
function hexIds(hex: string): string[] {
  if (!/^[0-9a-fA-F]{40}$/.test(hex)) return [];
  const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
  return [bytes, bytes.toReversed()].map((id) => base58check.encode(Uint8Array.of(IDENTITY_VERSION, ...id)));
}

const LIKE_AN_ADDRESS = /^\s*i[1-9A-HJ-NP-Za-km-z]{20,}\s*$/;
const labels = (name: string) => name.trim().toLowerCase().split('.');

/** Asked for the chain's own currency, the method ends the daemon; so does whatever may be another spelling of it. */
export function deadlyForNativeCurrency(position: number): Guard {
  return async ({ texts }, chain) => {
    const text = texts[position];
    if (!text?.startsWith('"')) return;
    const name = String(JSON.parse(text));
    const [first] = labels(name.replace(/@$/, ''));
    if (first === labels(chain.rootCurrency)[0]) throw unknownCurrency();
    const hex = /^\s*hex:(.*)$/is.exec(name)?.[1];
    if (hex === undefined && !LIKE_AN_ADDRESS.test(name)) return;
    const ids = hex === undefined ? [name.trim()] : hexIds(hex);
    if (ids.length === 0 || ids.includes(await chain.chainId())) throw unknownCurrency();
  };
}
