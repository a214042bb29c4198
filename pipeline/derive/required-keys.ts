/** Collects the keys that the processors will look up for a batch of blocks, except keys that the batch itself creates. */

import { getOrInsert } from '../../domain/get-or-insert.ts';
import { isHash } from '../../domain/hashes.ts';
import { isKey } from '../../processors/faults/redact.ts';
import { type OutPoint, referencedKeys } from '../../processors/state/referenced-keys.ts';
import type { DaemonScript } from '../../schemas/verusd/block.ts';
import type { ParsedBlock } from './parsed-slices.ts';

export interface RequiredKeys {
  readonly outpoints: readonly OutPoint[];
  readonly identityAddresses: readonly string[];
  readonly exports: readonly OutPoint[];
  /** Balances of the outputs that the batch creates; balances of spent outputs are known once those outputs are loaded. */
  readonly balances: BalanceKeys;
}

/** Pairs of an address and a currency, without repetitions. */
export interface BalanceKeys {
  add(address: string, currencyId: string): void;
  pairs(): Iterable<readonly [address: string, currencyId: string]>;
}

export function createBalanceKeys(): BalanceKeys {
  const keys = new Map<string, Set<string>>();
  return {
    add(address, currencyId) {
      getOrInsert(keys, address, () => new Set()).add(currencyId);
    },
    *pairs() {
      for (const [address, currencies] of keys) for (const currencyId of currencies) yield [address, currencyId];
    },
  };
}

/** Includes the `extra` balances. Omits outputs and exports that the blocks create themselves. */
export function requiredKeys(
  parsed: readonly Pick<ParsedBlock, 'block'>[],
  nativeCurrencyId: string,
  extra: BalanceKeys | null = null,
): RequiredKeys {
  const blocks = parsed.flatMap(({ block }) => block ?? []);
  const made = new Set<string>();
  for (const block of blocks) for (const { txid } of block.tx) made.add(txid);
  const outpoints: OutPoint[] = [];
  const identityAddresses = new Set<string>();
  const exports = new Map<string, OutPoint>();
  const balances = createBalanceKeys();
  for (const block of blocks) {
    const keys = referencedKeys(block);
    for (const outpoint of keys.outpoints) if (!made.has(outpoint.txid)) outpoints.push(outpoint);
    for (const identityAddress of keys.identityAddresses)
      if (isKey(identityAddress)) identityAddresses.add(identityAddress);
    for (const { txid, vout: n } of keys.exports) {
      if (isOutPoint(txid, n) && !made.has(txid)) exports.set(`${txid}:${n}`, { txid, n });
    }
    for (const address of keys.addresses) balances.add(address, nativeCurrencyId);
    for (const { vout } of block.tx) for (const { scriptPubKey } of vout) addTokens(balances, scriptPubKey);
  }
  for (const [address, currencyId] of extra?.pairs() ?? []) balances.add(address, currencyId);
  return { outpoints, identityAddresses: [...identityAddresses], exports: [...exports.values()], balances };
}

/** Tells whether an outpoint is possible: the stores do not have impossible ones and would refuse the query. */
function isOutPoint(txid: string, n: number): boolean {
  return isHash(txid) && n >= 0 && n < 2 ** 31;
}

/** Adds the currencies that a decoded script may contain: one too many costs a lookup, a missing one is noticed and loaded later. */
function addTokens(balances: BalanceKeys, script: DaemonScript): void {
  for (const key in script) {
    const decoded = script[key];
    if (typeof decoded !== 'object' || decoded === null || Array.isArray(decoded)) continue;
    const { currencyvalues, feecurrencyid } = decoded as { currencyvalues?: object; feecurrencyid?: unknown };
    for (const address of script.addresses ?? []) {
      for (const currencyId in currencyvalues) if (isKey(currencyId)) balances.add(address, currencyId);
      if (isKey(feecurrencyid)) balances.add(address, feecurrencyid);
    }
  }
}
