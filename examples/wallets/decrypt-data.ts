/**
 * Decrypts the content that an identity has under a key. The encrypted descriptors come from the service; the viewing key is sent only to
 * your own daemon.
 *
 *   WALLET_URL=http://user:password@127.0.0.1:27486 node examples/wallets/decrypt-data.ts SERVICE NAME@ KEY_ID
 *
 * VIEWING_KEY: an extended viewing key (zxviews…); without it the daemon tries the keys of its wallet.
 */
import { connect, printJson, RpcError, readArguments, walletUrl } from './rpc.ts';

interface State {
  readonly identity: { readonly contentmultimap?: Readonly<Record<string, unknown>> };
  readonly txid: string;
}

interface Descriptor {
  readonly flags: number;
  /** Hexadecimal digits, or a text where the descriptor marks it as text. */
  readonly objectdata?: string | { readonly message: string };
  readonly label?: string;
}

const DATA_DESCRIPTOR = 'i4GC1YGEVD21afWudGoFJVdnfjJ5XWnCQv';
const ENCRYPTED = 1;
const CANNOT_DECRYPT = -5;

const [address, name, key] = readArguments('SERVICE', 'NAME@', 'KEY_ID');
const service = connect(address);
const wallet = connect(walletUrl());
const { VIEWING_KEY: evk } = process.env;

/** Descriptors that belong to one value are in a nested list. */
function descriptorsIn(value: unknown): Descriptor[] {
  if (Array.isArray(value)) return value.flatMap(descriptorsIn);
  if (typeof value !== 'object' || value === null) return [];
  const descriptor = (value as Readonly<Record<string, Descriptor>>)[DATA_DESCRIPTOR];
  return descriptor ? [descriptor] : [];
}

function textOf({ objectdata }: Descriptor): string {
  if (typeof objectdata !== 'string') return objectdata?.message ?? printJson(objectdata);
  const bytes = Buffer.from(objectdata, 'hex');
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : objectdata;
}

const { identity, txid } = await service<State>('getidentity', name);
const held = identity.contentmultimap?.[key];
if (held === undefined) throw new Error(`the newest state holds nothing under ${key}`);
for (const datadescriptor of descriptorsIn(held)) {
  if (!(datadescriptor.flags & ENCRYPTED)) continue;
  // A descriptor may refer to data in another output of its transaction, which the daemon then reads.
  const question = { datadescriptor, txid, retrieve: true, ...(evk && { evk }) };
  try {
    for (const found of await wallet<Descriptor[]>('decryptdata', question))
      console.log(`${found.label ?? ''}\t${textOf(found)}`);
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== CANNOT_DECRYPT) throw error;
    console.error('not for this key');
    process.exitCode = 1;
  }
}
