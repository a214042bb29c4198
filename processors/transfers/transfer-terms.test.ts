import { describe, expect, it } from 'vitest';
import { parseExact } from '../../domain/json/exact-json.ts';
import type { DaemonReserveTransfer } from '../../schemas/verusd/conversion-objects.ts';
import { type TransferTerms, transferTerms } from './transfer-terms.ts';

/** A reserve-to-reserve conversion as the daemon printed it. */
const VIA = `{"version":1,"currencyvalues":{"iUsd":50.02500624},"flags":1027,"convert":true,"reservetoreserve":true,
  "feecurrencyid":"iNative","fees":0.00020010,"destinationcurrencyid":"iNative","via":"iBasket",
  "destination":{"address":"RDest","auxdests":[{"address":"RAux","type":2}],"type":66}}`;

function read(changes: Partial<DaemonReserveTransfer> = {}): TransferTerms {
  return transferTerms({ ...(parseExact(VIA) as DaemonReserveTransfer), ...changes });
}

describe('the terms of a reserve transfer', () => {
  it('are read exactly', () => {
    expect(read()).toEqual({
      kind: 'via',
      flags: 1027,
      fromCurrencyId: 'iUsd',
      toCurrencyId: 'iNative',
      viaCurrencyId: 'iBasket',
      importCurrencyId: 'iBasket',
      importSystemId: null,
      amountIn: 5_002_500_624n,
      transferFee: 20_010n,
      transferFeeCurrencyId: 'iNative',
      conversionFee: 2n * 1_250_625n,
      destination: 'RDest',
      destinationSystemId: null,
    });
  });

  it.each([
    [3, 'convert'],
    [515, 'convert'],
    [1027, 'via'],
    [67, 'convert'],
    [1091, 'via'],
    [7, 'preconvert'],
    [5, 'preconvert'],
    [33, 'mint'],
    [641, 'burn'],
    [129, 'burn'],
    [257, 'burn'],
    [1, 'send'],
    [65, 'send'],
    [0x4003, 'convert'],
  ] as const)('flags %i ask for a %s', (flags, kind) => {
    expect(read({ flags }).kind).toBe(kind);
  });

  it('have no destination where it is longer than any address', () => {
    expect(read({ destination: { address: 'ab'.repeat(500), type: 11 } }).destination).toHaveLength(1000);
    expect(read({ destination: { address: 'ab'.repeat(501), type: 11 } }).destination).toBeNull();
  });

  it('have the flags without the sign of a set highest bit', () => {
    expect(read({ flags: 515 - 2 ** 31, destinationcurrencyid: 'iReserve' })).toMatchObject({
      kind: 'convert',
      flags: 515,
      importCurrencyId: 'iUsd',
    });
  });

  it('name the import of the target currency, of the source for flag 0x200, or of the basket for a via', () => {
    expect(read({ flags: 3, destinationcurrencyid: 'iBasket' }).importCurrencyId).toBe('iBasket');
    expect(read({ flags: 515 })).toMatchObject({
      importCurrencyId: 'iUsd',
      toCurrencyId: 'iNative',
      viaCurrencyId: null,
    });
    expect(read({ flags: 641 }).importCurrencyId).toBe('iUsd');
  });

  it('of a mint have no source currency: the native id in its place stands for the minted currency', () => {
    const mint = read({ flags: 33, destinationcurrencyid: 'iToken' });
    expect(mint).toMatchObject({ fromCurrencyId: null, toCurrencyId: 'iToken', amountIn: 5_002_500_624n });
  });

  it('of a send to another system keep the currency: the id in its place names the destination', () => {
    const sent = read({ flags: 65, exportto: 'iSystem', destinationcurrencyid: 'iSystem' });
    expect(sent).toMatchObject({ fromCurrencyId: 'iUsd', toCurrencyId: 'iUsd', destinationSystemId: 'iSystem' });
    expect(sent.importCurrencyId).toBe('iSystem');
    expect(sent.conversionFee).toBe(0n);
  });

  it('name the system of a next leg', () => {
    const destination = { address: '0xabc', type: 9 + 128, gateway: 'iEth' };
    expect(read({ destination })).toMatchObject({ destination: '0xabc', destinationSystemId: 'iEth' });
    expect(read({ destination: { ...destination, type: 9 } }).destinationSystemId).toBeNull();
  });

  it('have a destination when there is a single address', () => {
    expect(read({ destination: { identity: { identityaddress: 'iAlice' }, type: 5 } }).destination).toBe('iAlice');
    expect(read({ destination: { address: { contract: '0x1', tokenid: '0x2' }, type: 10 } }).destination).toBeNull();
    expect(read({ destination: { type: 0 } }).destination).toBeNull();
  });

  it('take no conversion fee from a fee output', () => {
    expect(read({ flags: 3 | 8 }).conversionFee).toBe(0n);
  });

  it('have an amount of 0 without any value', () => {
    expect(read({ currencyvalues: {}, flags: 65 }).amountIn).toBe(0n);
  });

  it('refuse a value that is not an amount of coins', () => {
    expect(() => read({ fees: 0.000000001 })).toThrow(RangeError);
  });
});
