import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PAIRED_CHAINS } from '../test/support/processors/chain-pair.ts';
import { recordedTruth } from '../test/support/processors/recorded-chain.ts';
import { isIdentityAddress } from './addresses.ts';
import { foldCase, nameToAddress, vdxfKey } from './names.ts';

describe('nameToAddress', () => {
  test.each([
    ['VRSC', 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV'],
    ['The Verus Coin Foundation.VRSC@', 'iDV1KZA6vBXi9k6K3imiSLe5CsYG6MdH4V'],
    ['Ⓐ.VRSC', 'iKaSEU4KPrKahpemwHLoQVLPUof6fSE1uk'],
    ['Ⓐtest.VRSC@', 'iENnjC8BaDqjEWYQGxhEZuDeWeFQ5qfjGn'],
    ['veruscx@', 'i6QEbNsGThm2JHUwpLwxSu77DwzFWvfHv6'],
    ['make.VRSC@', 'iLWvRsiWVCEuFYhCSt2Qba7LxWksrgVerX'],
    ['vETH', 'i9nwxtKuVYX4MSbeULLiK2ttVi6rUEhh4X'],
    ['Bridge.vETH', 'i3f7tSctFkiPpiedY8QR5Tep9p4qDVebDx'],
  ])('published mainnet vector %s', (name, address) => {
    expect(nameToAddress(name, 'VRSC')).toBe(address);
  });

  test.each([
    ['VRSCTEST', 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq'],
    ['Andromeda.VRSCTEST', 'iNC9NG5Jqk2tqVtqfjfiSpaqxrXaFU6RDu'],
    ['service.VRSCTEST@', 'iFZC7A1HnnJGwBmoPjX3mG37RKbjZZLPhm'],
    ['Test.VRSC-BTC.VRSCTEST@', 'i9PCGgRJiaRvxbgZ8T5dd33qjFP4NVJvZm'],
  ])('published testnet vector %s', (name, address) => {
    expect(nameToAddress(name, 'VRSCTEST')).toBe(address);
  });

  test('every identity and currency that the daemon recorded', () => {
    const identities =
      recordedTruth<{ id: string; latest: { friendlyname: string; fullyqualifiedname: string } }[]>(
        'truth/identities.json.gz',
      );
    for (const { id, latest } of identities) {
      expect(nameToAddress(latest.friendlyname, 'VRSCTEST')).toBe(id);
      expect(nameToAddress(latest.fullyqualifiedname, 'VRSCTEST')).toBe(id);
    }
    const { currencies } = recordedTruth<{
      currencies: Record<string, { currencyid: string; fullyqualifiedname: string }>;
    }>('truth/supply.json');
    for (const { currencyid, fullyqualifiedname } of Object.values(currencies)) {
      expect(nameToAddress(fullyqualifiedname, 'VRSCTEST')).toBe(currencyid);
    }
    expect(identities.length + Object.keys(currencies).length).toBe(39);
  });

  test.each([
    ['alice@', 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2'],
    ['alice.VRSCTEST@', 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2'],
    ['pchain@', 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV'],
    ['Bridge.pchain@', 'iJgtXDdhGvFKR6Bpu9pAqgQd1oxRm7REZk'],
    ['bridge.PCHAIN.vrsctest', 'iJgtXDdhGvFKR6Bpu9pAqgQd1oxRm7REZk'],
  ])('as the daemon of a launched chain answered getidentity: %s', (name, address) => {
    expect(nameToAddress(name, PAIRED_CHAINS.pchain.networkRoot)).toBe(address);
  });

  test('a chain after the @ is ignored', () => {
    expect(nameToAddress('alice@VRSC', 'VRSC')).toBe(nameToAddress('alice@', 'VRSC'));
    expect(nameToAddress('alice.vARRR@vARRR.VRSC', 'VRSC')).toBe(nameToAddress('alice.vARRR@', 'VRSC'));
  });

  test('a trailing dot leaves the root out', () => {
    expect(nameToAddress('vETH.', 'VRSC')).not.toBe(nameToAddress('vETH', 'VRSC'));
    expect(nameToAddress('VRSC.', 'VRSCTEST')).toBe('i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV');
  });

  test.each([
    '',
    '@',
    '.',
    'a..b',
    ' a',
    'a ',
    'a  b',
    'a/b',
    'a:b',
    'a@@',
    'a@b@c',
    'a@ b',
    'a@b ',
    '@b',
    'a*',
    'é'.repeat(33),
  ])('not a name: %j', (name) => {
    expect(nameToAddress(name, 'VRSC')).toBeNull();
  });

  test('the limit of a label is 64 bytes, not 64 characters', () => {
    expect(nameToAddress('é'.repeat(32), 'VRSC')).not.toBeNull();
    expect(nameToAddress('x'.repeat(65), 'VRSC')).toBeNull();
  });

  const label = fc
    .string({ minLength: 1, maxLength: 16, unit: 'grapheme' })
    .filter((text) => /^[^\s\\/:*?"<>|@.]+$/u.test(text) && Buffer.byteLength(text) <= 64);

  test('ASCII case, the final @ and the root do not matter; the address is an i-address', () => {
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), (labels) => {
        const name = labels.join('.');
        fc.pre(foldCase(labels.at(-1) ?? '') !== 'vrsc');
        const address = nameToAddress(name, 'VRSC');
        expect(address).not.toBeNull();
        expect(isIdentityAddress(address ?? '')).toBe(true);
        expect(nameToAddress(foldCase(name), 'VRSC')).toBe(address);
        expect(nameToAddress(`${name}.vrsc@`, 'VRSC')).toBe(address);
      }),
    );
  });

  test('only A–Z are folded', () => {
    expect(foldCase('ÀÉⒶΩ ABCXYZ')).toBe('ÀÉⒶΩ abcxyz');
  });
});

describe('vdxfKey', () => {
  test.each([
    ['vrsc::system.currency.export', 'iLY9mLpjMHy94rcJk4roxoNgRLSqhJeHFz'],
    ['vrsc::data.type.string', 'iK7a5JNJnbeuYWVHCDRpJosj3irGJ5Qa8c'],
    ['veruspay.vrsc::invoice', 'iEETy7La3FTN2Sd2hNRgepek5S8x8eeUeQ'],
    ['vrsc::identity.update.request', 'iQJAPr53wZnjLyGpGdjiNZhSwSTXSfyoYy'],
    ['vrsc::applications.wallet', 'i5JtwbP6zyMEAy9LLnRAGLgJQGdRFfsAu4'],
    ['vrsc::data.type.object.datadescriptor', 'i4GC1YGEVD21afWudGoFJVdnfjJ5XWnCQv'],
    ['vrsc::contract.loan.offer', 'iA1vgVBV5B29h5pxQ67gxqCoEaLDZ8WbmY'],
    ['vcs::contract.loan.request', 'iFg76F9M8CV5xEg3L2NvCDBXufaxjUWhaW'],
  ])('published vector %s', (name, key) => {
    expect(vdxfKey(name, 'VRSC')).toBe(key);
  });

  test.each([
    ['alice.vrsctest::profile.bio', 'iD1rWQaBBHZU14FRYkBUguwfjZHDVatGXG'],
    ['nosuchns::a.b', 'i8C4EQNH7GREhPzvFW2k7w11yLNvE5GVDw'],
    ['plainname', 'i8gcWZe8nu4K514Xbt5Jr867EdtRvumwPX'],
  ])('recorded from a daemon on the testnet: %s', (name, key) => {
    expect(vdxfKey(name, 'VRSCTEST')).toBe(key);
  });

  test.each(['::', '', 'vrsc::', '::x', 'a::b::c', 'vrsc::a..b'])('not a key: %j', (name) => {
    expect(vdxfKey(name, 'VRSC')).toBeNull();
  });
});
