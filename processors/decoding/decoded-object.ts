/** Reads the daemon's decoded objects, in which a kind may be the string "invalid" and a field may be missing. */
import { LosslessNumber } from 'lossless-json';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { DaemonScript } from '../../schemas/verusd/block.ts';

export type DecodedObject = Readonly<Record<string, unknown>>;

/** Returns the object under `kind`; undefined when the output is of another kind or could not be decoded. */
export function decodedObject(script: DaemonScript, kind: string): DecodedObject | undefined {
  return asObject(script[kind]);
}

export function asObject(value: unknown): DecodedObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
    ? (value as DecodedObject)
    : undefined;
}

/** Returns the daemon's coins in satoshis; undefined if `value` is not a number. */
export function asSatoshis(value: unknown): bigint | undefined {
  return typeof value === 'number' || value instanceof LosslessNumber ? coinsToSatoshis(value) : undefined;
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function asInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

export function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
