import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { parseExact } from '../../domain/json/exact-json.ts';
import { vdxfKey } from '../../domain/names.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { contentHashes, valueHash } from './content-hashes.ts';

describe('recorded', () => {
  const { all, derived } = foldRecording();
  const identities = all('identity');
  const scripts = new Map(
    derived.flatMap(({ block }) =>
      block.tx.flatMap(({ txid, vout }) =>
        vout.map(({ n, scriptPubKey }) => [`${txid}:${n}`, scriptPubKey.hex ?? ''] as const),
      ),
    ),
  );

  test('the content of every identity script has the same keys and number of values as the daemon’s', () => {
    let values = 0;
    for (const { txid, vout, state, identityAddress, contentHashes: stored } of identities) {
      const { contentmultimap } = parseExact(state) as { contentmultimap: Record<string, unknown[]> };
      const hashes = contentHashes(scripts.get(`${txid}:${vout}`) ?? '');
      const shape = (map: Readonly<Record<string, readonly unknown[]>> | null) =>
        Object.entries(map ?? {}).map(([key, list]) => [key, list.length]);
      expect(shape(hashes), identityAddress).toEqual(shape(contentmultimap));
      expect(stored).toBe(Object.keys(contentmultimap).length > 0 ? JSON.stringify(hashes) : null);
      values += Object.values(hashes ?? {}).flat().length;
    }
    expect(values).toBeGreaterThan(10);
  });

  /** Bytes of a typed object: its key, version 1, the size of the rest, the size of the value, the value. */
  const typed = (name: string, value: Uint8Array): Buffer => {
    const key = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest()).decode(
      vdxfKey(name, 'VRSC') ?? '',
    );
    return Buffer.concat([key.subarray(1), Uint8Array.of(1, value.length + 1, value.length), value]);
  };

  test('bytes are hashed with or without their type, and both print as hex; texts are hashed with their type', () => {
    let compared = 0;
    for (const { txid, vout, state } of identities) {
      const { contentmultimap } = parseExact(state) as { contentmultimap: Record<string, unknown[]> };
      const hashes = contentHashes(scripts.get(`${txid}:${vout}`) ?? '');
      for (const [key, values] of Object.entries(contentmultimap)) {
        values.forEach((value, index) => {
          const text = (value as { [type: string]: unknown } | null)?.iK7a5JNJnbeuYWVHCDRpJosj3irGJ5Qa8c;
          const candidates =
            typeof value === 'string'
              ? [Buffer.from(value, 'hex'), typed('vrsc::data.type.bytevector', Buffer.from(value, 'hex'))]
              : typeof text === 'string'
                ? [typed('vrsc::data.type.string', Buffer.from(text))]
                : [];
          if (candidates.length === 0) return;
          expect(candidates.map(valueHash), JSON.stringify(value)).toContain(hashes?.[key]?.[index]);
          compared += 1;
        });
      }
    }
    expect(compared).toBeGreaterThan(10);
  });
});

test.each(['', '00', 'ff', '04030001', `4c${'ff'.repeat(80)}`, '04030001011475', 'cc04'])(
  'no identity script: %s',
  (hex) => {
    expect(contentHashes(hex)).toBeNull();
  },
);

test('a script that ends early is not an identity', () => {
  const whole = Buffer.from('0403000e00cc1104030e010004030e01000403000000', 'hex');
  for (let length = 0; length < whole.length; length++) {
    expect(contentHashes(whole.subarray(0, length).toString('hex'))).toBeNull();
  }
});

test.each([
  ['', '445856e5667cc56be078fcd36e58354e2443af937a32abd75ecf5c66638fb2ff'],
  ['c0ffee', '9ece3f0a2665c665be74cfa09ac3dde58ccd20b605ee9cf2d6e1d7daddeeb2f4'],
])('BLAKE2b-256 with the daemon’s personal string, printed in reverse, as Python’s hashlib has it: %s', (hex, hash) => {
  expect(valueHash(Buffer.from(hex, 'hex'))).toBe(hash);
});
