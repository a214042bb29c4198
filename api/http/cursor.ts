/** A place in a list, as opaque text: the key of the row next to it, and the hash of the block that it depends on. */

import { isHash } from '../../domain/hashes.ts';
import { INT32_MAX } from '../../schemas/integers.ts';
import { parameterError } from './api-error.ts';

export type CursorValue = string | number;

export interface Cursor {
  readonly list: string;
  readonly chain: string;
  /** Whether it leads back, to the rows before its place. */
  readonly isBack: boolean;
  /** Key of the row that the page starts next to, without that row. */
  readonly key: readonly CursorValue[];
  /** Generation of the stamps that the list is ordered by; undefined for a list in chain order. */
  readonly generation?: number | undefined;
  /** The cursor is valid while the chain has the block with this height and `hash`. */
  readonly height: number;
  readonly hash: string;
}

/** Negative in a cursor that leads back. */
const VERSION = 1;

export function encodeCursor({ list, chain, isBack, generation, height, hash, key }: Cursor): string {
  const version = isBack ? -VERSION : VERSION;
  const place = generation === undefined ? key : [generation, ...key];
  return Buffer.from(JSON.stringify([version, list, chain, height, hash, ...place])).toString('base64url');
}

/** Returns whether a cursor leads back; false for text that is no cursor. */
export function leadsBack(text: string): boolean {
  return Number(readArray(text)[0]) < 0;
}

export type KeyKind = 'integer' | 'hex' | 'text' | 'decimal';

/**
 * `isOfGeneration`: whether the cursors of this list contain a generation.
 * @throws ApiError cursor_invalid for a cursor that this list has not issued
 */
export function decodeCursor(
  text: string,
  list: string,
  chain: string,
  kinds: readonly KeyKind[],
  isOfGeneration = false,
): Cursor {
  const [version, listed, chained, height, hash, ...place] = readArray(text);
  const [generation] = isOfGeneration ? place : [];
  const key = isOfGeneration ? place.slice(1) : place;
  const valid =
    (version === VERSION || version === -VERSION) &&
    listed === list &&
    chained === chain &&
    isOfKind(height, 'integer') &&
    isHash(hash) &&
    (!isOfGeneration || isOfKind(generation, 'integer')) &&
    key.length === kinds.length &&
    key.every((value, index) => isOfKind(value, kinds[index]));
  if (!valid) {
    throw parameterError(
      'cursor',
      'this list of this chain did not issue the cursor: pass nextCursor or prevCursor of an answer unchanged',
      'cursor_invalid',
    );
  }
  return {
    list,
    chain,
    isBack: version < 0,
    key: key as CursorValue[],
    ...(isOfGeneration && { generation: Number(generation) }),
    height: Number(height),
    hash: String(hash),
  };
}

function readArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** A non-negative decimal as the store returns it. */
const DECIMAL = /^\d{1,38}(\.\d{1,38})?$/;

function isOfKind(value: unknown, kind: KeyKind | undefined): boolean {
  if (kind === 'integer') return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= INT32_MAX;
  if (kind === 'hex') return isHash(value);
  if (kind === 'decimal') return typeof value === 'string' && DECIMAL.test(value);
  return typeof value === 'string' && !value.includes('\0');
}
