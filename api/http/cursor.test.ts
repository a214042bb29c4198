import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { decodeCursor, encodeCursor, type KeyKind, leadsBack } from './cursor.ts';

const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const height = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
const decimal = fc.stringMatching(/^\d{1,38}(\.\d{1,38})?$/);
const KINDS: readonly KeyKind[] = ['integer', 'hex', 'text', 'decimal'];

describe('a cursor', () => {
  it('decodes to what was encoded', () => {
    fc.assert(
      fc.property(text, height, hex, hex, text, decimal, fc.boolean(), (list, at, hash, txid, name, value, isBack) => {
        const cursor = { list, chain: 'vrsc', isBack, height: at, hash, key: [at, txid, name, value] };
        const encoded = encodeCursor(cursor);
        expect(encoded).toMatch(/^[\w-]+$/);
        expect(decodeCursor(encoded, list, 'vrsc', KINDS)).toEqual(cursor);
        expect(leadsBack(encoded)).toBe(isBack);
      }),
    );
  });

  it('of a list ordered by values keeps its generation, and is refused without one', () => {
    const key = [5, 'a'.repeat(64), 'x', '1.5'];
    const cursor = {
      list: 'largest',
      chain: 'vrsc',
      isBack: false,
      generation: 7,
      height: 9,
      hash: 'b'.repeat(64),
      key,
    };
    const encoded = encodeCursor(cursor);
    expect(decodeCursor(encoded, 'largest', 'vrsc', KINDS, true)).toEqual(cursor);
    expect(() => decodeCursor(encoded, 'largest', 'vrsc', KINDS)).toThrow(ApiError);
    const without = encodeCursor({ ...cursor, generation: undefined });
    expect(() => decodeCursor(without, 'largest', 'vrsc', KINDS, true)).toThrow(ApiError);
  });

  it('is refused by another list, by another chain and for another key', () => {
    const key = [5, 'a'.repeat(64), 'x'];
    const encoded = encodeCursor({
      list: 'blocks',
      chain: 'vrsc',
      isBack: false,
      height: 5,
      hash: 'b'.repeat(64),
      key,
    });
    expect(() => decodeCursor(encoded, 'stakes', 'vrsc', KINDS)).toThrow(ApiError);
    expect(() => decodeCursor(encoded, 'blocks', 'chips', KINDS)).toThrow(ApiError);
    expect(() => decodeCursor(encoded, 'blocks', 'vrsc', ['integer'])).toThrow(ApiError);
    expect(() => decodeCursor(encoded, 'blocks', 'vrsc', ['integer', 'text', 'integer'])).toThrow(ApiError);
  });

  it('that no list issued is refused with cursor_invalid, never with another error', () => {
    const made = fc.array(fc.anything()).map((value) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), made), (sent) => {
        let code: string | null = null;
        try {
          decodeCursor(sent, 'blocks', 'vrsc', KINDS);
        } catch (error) {
          code = (error as ApiError).code;
        }
        expect(code).toBe('cursor_invalid');
      }),
    );
  });
});
