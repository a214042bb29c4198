/**
 * Takes an unsigned identity update that a service built, checks it against your own daemon, funds and signs it there, and broadcasts it.
 * Nothing that the service returns is trusted: the signature covers the whole transaction.
 */
import { isDeepStrictEqual } from 'node:util';
import { type StoredMap, storedMultimap } from './identity-output.ts';
import { printJson, type Rpc, toSatoshis } from './rpc.ts';

type Identity = Readonly<Record<string, unknown>>;

export interface Output {
  readonly txid: string;
  readonly vout: number;
}

/** The result of getidentity from your own daemon. */
export interface Known extends Output {
  readonly identity: Identity;
}

export interface Decoded {
  readonly txid: string;
  readonly locktime: number;
  readonly expiryheight: number;
  readonly vin: readonly Output[];
  readonly vout: readonly {
    readonly valueSat: number;
    readonly scriptPubKey: { readonly identityprimary?: Identity; readonly hex: string };
  }[];
}

export interface Wanted {
  /** Members of the identity that change, with identities as i-addresses; all other members must stay the same. */
  readonly changes: (known: Identity, transaction: Decoded) => Identity;
  readonly map: (stored: StoredMap) => void;
  /** The output whose map the new map was merged from. */
  readonly replaces?: Output | undefined;
}

export interface Ends {
  readonly service: Rpc;
  /** Your own daemon, with the keys. */
  readonly wallet: Rpc;
}

/** The daemon refuses a transaction that expires within this many blocks. */
const SOON = 3;
/** The delay of a lock counts from the expiry height, so a service could postpone it with a transaction that expires much later. */
const LONGEST_LIFE = 100;

/** @throws Error that names the difference from the requested update */
export async function check(wallet: Rpc, name: string, unsigned: string, wanted: Wanted): Promise<Decoded> {
  const transaction = await wallet<Decoded>('decoderawtransaction', unsigned);
  const { identity, txid, vout } = await wallet<Known>('getidentity', name, -1);
  const { blocks } = await wallet<{ blocks: number }>('getblockchaininfo');
  const [input, ...inputs] = transaction.vin;
  const [output, ...outputs] = transaction.vout;
  if (inputs.length > 0 || input?.txid !== txid || input.vout !== vout)
    throw new Error(
      `it must spend the identity's output ${txid}:${vout} and nothing else: is your daemon synchronised?`,
    );
  const { replaces = input } = wanted;
  if (input.txid !== replaces.txid || input.vout !== replaces.vout)
    throw new Error(`the identity was updated after ${replaces.txid}:${replaces.vout} was merged: merge again`);
  if (!output?.scriptPubKey.identityprimary || outputs.length > 0 || output.valueSat !== 0)
    throw new Error('it must have one output, the identity, without coins');
  if (transaction.locktime !== 0) throw new Error('it must not be locked until later');
  if (transaction.expiryheight <= blocks + SOON)
    throw new Error(`it expires at block ${transaction.expiryheight}, the chain has ${blocks}: ask for a new one`);
  if (transaction.expiryheight > blocks + LONGEST_LIFE)
    throw new Error(`it must expire by block ${blocks + LONGEST_LIFE}, not at ${transaction.expiryheight}`);

  const made = output.scriptPubKey.identityprimary;
  const expected: Identity = { ...identity, ...wanted.changes(identity, transaction) };
  for (const member of new Set([...Object.keys(expected), ...Object.keys(made)])) {
    // checkMap compares the map byte by byte; the first update after an upgrade of the chain raises the version.
    if (member === 'contentmultimap' || member === 'version') continue;
    if (!isDeepStrictEqual(made[member], expected[member]))
      throw new Error(`${member} would be ${printJson(made[member])}, not ${printJson(expected[member])}`);
  }
  wanted.map(storedMultimap(output.scriptPubKey.hex));
  return transaction;
}

/** Returns the txid. `mostFee` is in coins. */
export async function signAndSend({ service, wallet }: Ends, unsigned: string, mostFee: string): Promise<string> {
  // The service has no coins to spend, so the transaction pays no fee until it is funded here.
  const funded = await wallet<{ hex: string; fee: unknown }>('fundrawtransaction', unsigned);
  if (toSatoshis(funded.fee) > toSatoshis(mostFee))
    throw new Error(`the fee would be ${String(funded.fee)}, more than ${mostFee}`);
  const signed = await wallet<{ hex: string; complete: boolean; errors?: unknown }>('signrawtransaction', funded.hex);
  if (!signed.complete)
    throw new Error(
      `more signatures are needed (${printJson(signed.errors)}): pass this on, then send it\n${signed.hex}`,
    );
  const { txid } = await wallet<Decoded>('decoderawtransaction', signed.hex);
  const sent = await service<string>('sendrawtransaction', signed.hex);
  if (sent !== txid) throw new Error(`the service says it sent ${sent}, not ${txid}: look it up at home`);
  return txid;
}
