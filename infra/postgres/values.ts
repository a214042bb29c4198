/** Conversions between Postgres' types and values of the program. */
import { types } from 'pg';

const INT8 = 20;
const BYTEA = 17;
const JSON_TEXT = 114;
const JSONB = 3802;

/** int8 → bigint, bytea → lower-case hex without prefix, json → its text (numbers keep their digits). */
export const storeTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === INT8) return BigInt;
    if (oid === BYTEA) return (text: string) => text.slice(2);
    if (oid === JSON_TEXT || oid === JSONB) return (text: string) => text;
    return types.getTypeParser(oid, format ?? 'text');
  },
};

/** Hex of a hash or txid → parameter of a bytea column. */
export function hexParam(hex: string): string {
  return `\\x${hex}`;
}
