/**
 * Prints a request for update-identity that keeps the contentmultimap of an identity byte for byte, and adds values to it. CHANGES is JSON:
 * {"<i-address of a key>": [values to add]}, or null for a key to remove. `replaces` in the output names the state that was merged.
 *
 *   node examples/wallets/merge-multimap.ts SERVICE NAME@ '{"iD1rWQaBBHZU14FRYkBUguwfjZHDVatGXG":["c0ffee"]}'
 */
import { storedMultimap } from './identity-output.ts';
import { connect, printJson, readArguments, readJson } from './rpc.ts';

interface State {
  readonly identity: { readonly name: string; readonly parent: string };
  readonly txid: string;
  readonly vout: number;
}

interface Transaction {
  readonly vout: readonly { readonly n: number; readonly scriptPubKey: { readonly hex: string } }[];
}

const [service, name, json] = readArguments('SERVICE', 'NAME@', 'CHANGES');
const rpc = connect(service);
const changes = readJson(json) as Readonly<Record<string, unknown>>;

/** The daemon silently drops other elements of a list. */
function checkValue(value: unknown): unknown {
  const isHex = typeof value === 'string' && /^([0-9a-f]{2})+$/i.test(value);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject && 'data' in value) throw new Error('data is encrypted by the daemon that is asked: use your own');
  if (!isHex && !isObject) throw new Error(`${printJson(value)} is not kept: hexadecimal digits, or {"<type>": value}`);
  return value;
}

// Height -1 includes the mempool: the next update replaces a pending one.
const { identity, txid, vout } = await rpc<State>('getidentity', name, -1);
const transaction = await rpc<Transaction>('getrawtransaction', txid, 1);
const script = transaction.vout.find(({ n }) => n === vout)?.scriptPubKey.hex;
if (!script) throw new Error(`output ${vout} of ${txid} is missing`);
const merged = new Map<string, readonly unknown[]>(storedMultimap(script));
for (const [key, values] of Object.entries(changes)) {
  if (!/^i\w{33}$/.test(key)) throw new Error(`${key} must be an i-address: getvdxfid gives that of a name`);
  if (values === null) merged.delete(key);
  else if (Array.isArray(values)) merged.set(key, [...(merged.get(key) ?? []), ...values.map(checkValue)]);
  else throw new Error(`${key} must have a list of values, or null`);
}
const { name: label, parent } = identity;
const contentmultimap = Object.fromEntries(merged);
console.log(printJson({ name: label, parent, contentmultimap, replaces: { txid, vout } }));
