/** What the daemon itself answered about the recorded chain, with exact numbers. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parseExact } from '../../domain/json/exact-json.ts';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import { recordedBlocks } from '../support/processors/recorded-chain.ts';
import { NATIVE, RECORDING } from './running-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: the daemon's answers have no type here; every use names what it compares
export type LooseJson = any;

export function recordedText(path: string): string {
  const bytes = readFileSync(`${RECORDING}${path}`);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

export const truth = (name: string): LooseJson => parseExact(recordedText(`truth/${name}`));

/** Every block of the main chain as getblock 2 prints it. */
export const blocks: readonly LooseJson[] = recordedBlocks();

export const tip = blocks.length - 1;

export const sat = (coins: ExactNumber | string): string => coinsToSatoshis(coins).toString();

/** {i-address: coins} → {i-address: satoshis} without zeros and the native coin. */
export function tokens(map: Readonly<Record<string, ExactNumber>> | undefined): Record<string, string> {
  const entries = Object.entries(map ?? {}).map(([id, coins]) => [id, sat(coins)] as const);
  return Object.fromEntries(entries.filter(([id, value]) => id !== NATIVE && value !== '0').sort());
}

/** [{currencyId, amount}] of an answer → the same. */
export function amounts(list: readonly { readonly currencyId: string; readonly amount: ExactNumber }[]) {
  return tokens(Object.fromEntries(list.map(({ currencyId, amount }) => [currencyId, amount])));
}
