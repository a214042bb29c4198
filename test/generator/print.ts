/** The daemon's JSON: its number formats, its order of keys, its strings. */
import { daemonString } from '../../domain/json/raw-json.ts';
import { satoshisToCoins } from '../../domain/satoshi.ts';

export const coins = satoshisToCoins;
export const text = daemonString;
export const NULL_HASH = '0'.repeat(64);

export const list = (items: readonly string[]): string => `[${items.join(',')}]`;
export const texts = (items: readonly string[]): string => list(items.map(text));

/** `true` members appear only when they are true. */
export const flag = (name: string, on: boolean): string => (on ? `"${name}":true,` : '');

/** {i-address: coins} */
export function amounts(map: Iterable<readonly [string, bigint]>): string {
  return `{${Array.from(map, ([id, amount]) => `"${id}":${coins(amount)}`).join(',')}}`;
}

/** Bytes whose content does not matter, as hex. `seed` is hex. */
export function filler(seed: string, bytes: number): string {
  const digits = bytes * 2;
  return seed.repeat(Math.ceil(digits / seed.length)).slice(0, digits);
}

export function fixedHex(value: number | bigint, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** Another 64 hex digits made from a hash, without hashing again. */
export const rotated = (hash: string, by: number): string => hash.slice(by) + hash.slice(0, by);
