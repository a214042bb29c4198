/** The stored contentmultimap, compared with what the daemon printed of it, for every identity output of the recording. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { storedMultimap } from '../../examples/wallets/identity-output.ts';
import { readLines } from '../../recordings/player/read-lines.ts';
import { RECORDING } from './running-service.ts';

interface Output {
  readonly scriptPubKey: {
    readonly identityprimary?: { readonly contentmultimap?: Readonly<Record<string, readonly unknown[]>> };
    readonly hex: string;
  };
}

/** Type and version of a `vrsc::data.type.bytevector`, of which the daemon prints only the digits. */
const BYTES = 'ae377010192abb2513f705519f62066046e63acc01';
const lengthOf = (hex: string) => (hex.length / 2).toString(16).padStart(2, '0');

it('the stored map has the keys and values that the daemon printed, and the types of bytes that it omits', () => {
  const seen = { outputs: 0, hex: 0, wrapped: 0, objects: 0, lists: 0 };
  for (const line of readLines(join(RECORDING, 'txs.jsonl.gz'))) {
    if (!line.includes('"identityprimary"')) continue;
    const { tx } = JSON.parse(line.toString('utf8')) as { readonly tx: { readonly vout: readonly Output[] } };
    for (const { scriptPubKey } of tx.vout) {
      const { identityprimary, hex } = scriptPubKey;
      if (!identityprimary) continue;
      seen.outputs += 1;
      const stored = storedMultimap(hex);
      const printed = Object.entries(identityprimary.contentmultimap ?? {});
      expect([...stored.keys()].sort()).toEqual(printed.map(([key]) => key).sort());
      for (const [key, values] of printed) {
        const bytes = stored.get(key) ?? [];
        expect(bytes.length).toBe(values.length);
        for (const [index, value] of values.entries()) {
          const isHex = typeof value === 'string';
          if (isHex && bytes[index] !== value) {
            expect(bytes[index]).toBe(`${BYTES}${lengthOf(`00${value}`)}${lengthOf(value)}${value}`);
            seen.wrapped += 1;
          }
          seen[isHex ? 'hex' : Array.isArray(value) ? 'lists' : 'objects'] += 1;
        }
      }
    }
  }
  // The recording must contain each kind.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  expect(seen.outputs).toBeGreaterThan(60);
});

it('an output that holds no identity, or is cut, is refused', () => {
  expect(() => storedMultimap('76a91452f03c1595f5b1a603770f9a3db87d60ac649d9788ac')).toThrow(/data is expected/);
  expect(() => storedMultimap('0101cc050403000103')).toThrow(/ends before its content|holds no identity/);
});
