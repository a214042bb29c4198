/** A canonical text of answers: equal answers have equal texts, with numbers by value and members in any order. */
import { LosslessNumber } from 'lossless-json';
import { parseExact } from '../../domain/json/exact-json.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Canonical text of a value; the members `leftOut` of its outermost objects are ignored. */
export function canonical(value: unknown, leftOut: ReadonlySet<string> = NOTHING): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, leftOut)).join(',')}]`;
  if (value instanceof LosslessNumber || typeof value === 'number') return number(String(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([key, member]) => member !== undefined && !leftOut.has(key));
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    .join(',')}}`;
}

const NOTHING: ReadonlySet<string> = new Set();

function number(text: string): string {
  if (/^-?\d+$/.test(text)) return text;
  const plain = /e/i.test(text) ? decimal(coinsToSatoshis(new LosslessNumber(text))) : text;
  return plain.replace(/\.?0+$/, '');
}

/** Satoshis as coins with 8 decimals, as the daemon prints them. */
export function decimal(satoshis: bigint): string {
  const digits = (satoshis < 0n ? -satoshis : satoshis).toString().padStart(9, '0');
  return `${satoshis < 0n ? '-' : ''}${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

/** A number of coins in an answer from the stores. */
export const coins = (satoshis: bigint | string): LosslessNumber => new LosslessNumber(decimal(BigInt(satoshis)));

export const parsed = (text: string): Members => parseExact(text) as Members;
