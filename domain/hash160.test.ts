import { expect, it } from 'vitest';
import { hash160, hash256, sha256 } from './hash160.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const HELLO = Buffer.from('hello');

it('gives the published digests of "hello"', () => {
  expect(hex(sha256(HELLO))).toBe('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
  expect(hex(hash256(HELLO))).toBe('9595c9df90075148eb06860365df33584b75bff782a510c6cd4883a419833d50');
  expect(hex(hash160(HELLO))).toBe('b6a9c8c230722b7c748331a8b450f05566dc7d0f');
});
