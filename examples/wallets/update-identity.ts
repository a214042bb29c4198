/**
 * Updates an identity without giving its keys to the service: the service builds the transaction, your own daemon checks, funds and signs it,
 * and the service broadcasts it. REQUEST is the parameter of updateidentity, with identities as i-addresses. `replaces`, which
 * merge-multimap.ts adds, names the output that must still be the newest; without it, the update overwrites one that others sent meanwhile.
 *
 *   WALLET_URL=http://user:password@127.0.0.1:27486 node examples/wallets/update-identity.ts SERVICE NAME@ REQUEST
 *
 * MOST_FEE: in coins, 0.01
 */
import { isDeepStrictEqual } from 'node:util';
import type { StoredMap } from './identity-output.ts';
import { connect, readArguments, readJson, walletUrl } from './rpc.ts';
import { check, type Output, signAndSend } from './sign-at-home.ts';

const [address, identity, json] = readArguments('SERVICE', 'NAME@', 'REQUEST');
const service = connect(address);
const wallet = connect(walletUrl());

interface Request extends Readonly<Record<string, unknown>> {
  readonly contentmultimap?: Readonly<Record<string, unknown[]>>;
  readonly replaces?: Output;
}

const { replaces, ...request } = readJson(json) as Request;
const { contentmultimap: map = {}, ...changes } = request;

const hexOnly = (values: readonly unknown[]) =>
  values.map((value) => (typeof value === 'string' ? value.toLowerCase() : null));

for (const [key, values] of Object.entries(map)) {
  if (!Array.isArray(values)) throw new Error(`${key} must have a list of values`);
  const hasData = values.some((value) => typeof value === 'object' && value !== null && 'data' in value);
  if (hasData) throw new Error('data is encrypted by the daemon that builds the transaction: that must be your own');
}

/** The daemon chooses the bytes of a value given as an object; values given as hex are compared. */
function checkMap(stored: StoredMap): void {
  if (!isDeepStrictEqual([...stored.keys()].sort(), Object.keys(map).sort()))
    throw new Error(`the keys would be ${[...stored.keys()].join(', ') || 'none'}`);
  for (const [key, values] of Object.entries(map)) {
    const made = stored.get(key) ?? [];
    const isAsAsked = hexOnly(values).every((value, index) => value === null || value === made[index]);
    if (!isAsAsked || made.length !== values.length)
      throw new Error(`the values of ${key} would be ${made.join(', ')}`);
  }
}

const unsigned = await service<string>('updateidentity', request, true);
await check(wallet, identity, unsigned, { changes: () => changes, map: checkMap, replaces });
console.log(`sent ${await signAndSend({ service, wallet }, unsigned, process.env.MOST_FEE ?? '0.01')}`);
