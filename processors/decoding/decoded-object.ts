/** Reads the daemon's decoded objects, in which a kind may be the string "invalid" and a field may be missing. */
import { LosslessNumber } from 'lossless-json';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import { INT32_MAX } from '../../schemas/integers.ts';
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

/**
 * Returns a name that the stores can keep. The protocol hashes a name only up to a NUL and accepts what follows, so the holder of any
 * identity can put a NUL into its name; the printed object contains the name as it is.
 */
export function asName(value: unknown): string | undefined {
  return asText(value)?.replaceAll('\0', '\ufffd');
}

/** Returns 0 when there are none. The daemon prints flags with a sign, and the protocol accepts a set highest bit, which means nothing. */
export function asFlags(value: unknown): number {
  return (asInteger(value) ?? 0) & INT32_MAX;
}

export function asInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

export function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
