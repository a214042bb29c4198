import { describe, expect, it } from 'vitest';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import { conversionObject } from '../../schemas/verusd/conversion-objects.ts';
import { PAIRED_CHAINS, pairedBlocks } from '../../test/support/processors/chain-pair.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../../test/support/processors/recorded-chain.ts';
import { type ImportContents, readImport } from './transfer-payouts.ts';

const ROOT = PAIRED_CHAINS.root.nativeCurrencyId;
const PCHAIN = PAIRED_CHAINS.pchain.nativeCurrencyId;

const recorded = recordedBlocks();
const pchain = pairedBlocks('pchain');

function read(tx: DaemonTransaction | undefined, vout: number, nativeCurrencyId: string): ImportContents {
  const output = tx?.vout[vout];
  const imported = output && conversionObject(output.scriptPubKey, 'crosschainimport');
  if (!tx || !imported) throw new Error('no import there');
  return readImport(tx, vout, imported, nativeCurrencyId);
}

describe('the contents of an import', () => {
  it('have as many payouts as it states, right after its notarization', () => {
    const { payouts, prices, incoming } = read(recorded[222]?.tx[2], 0, RECORDED_CHAIN.nativeCurrencyId);
    expect(payouts.map(({ vout }) => vout)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(payouts.slice(0, 2)).toEqual([
      {
        vout: 2,
        amounts: new Map([[ROOT, 10_047_487_500n]]),
        addresses: ['iP3hZ1kt8wTqdGoHdEJ4cyEPaSwNqA9Rcc'],
        isNextLeg: false,
      },
      {
        vout: 3,
        amounts: new Map([['iP3hZ1kt8wTqdGoHdEJ4cyEPaSwNqA9Rcc', 40_189_950_000n]]),
        addresses: ['RWZTy8UTtRsvryMp2HFS1osSL6uHHiEfvF'],
        isNextLeg: false,
      },
    ]);
    expect(prices).toMatchObject({ importCurrencyId: 'iP3hZ1kt8wTqdGoHdEJ4cyEPaSwNqA9Rcc', isBasket: false });
    expect(prices?.price).toEqual(new Map([[ROOT, coinsToSatoshis('0.25')]]));
    expect(incoming).toEqual([]);
  });

  it('leave out the deposits after the payouts', () => {
    const { payouts } = read(recorded[222]?.tx[1], 0, RECORDED_CHAIN.nativeCurrencyId);
    expect(payouts.map(({ vout }) => vout)).toEqual([2]);
  });

  it('state both prices of every reserve', () => {
    const { prices } = read(recorded[299]?.tx[10], 0, RECORDED_CHAIN.nativeCurrencyId);
    expect(prices?.isBasket).toBe(true);
    expect([...(prices?.price.keys() ?? [])].sort()).toEqual([...(prices?.viaPrice.keys() ?? [])].sort());
    expect(prices?.price.size).toBe(3);
  });

  it('from another chain follow its thread, evidence and transfers', () => {
    const { payouts, incoming, prices } = read(pchain[267]?.tx[1], 0, PCHAIN);
    expect(incoming.map(({ flags }) => flags)).toEqual([67, 1091, 65]);
    expect(payouts.map(({ vout }) => vout)).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(prices?.importCurrencyId).toBe('iJgtXDdhGvFKR6Bpu9pAqgQd1oxRm7REZk');
  });

  it('have next legs with the amount that they carry, without the fee of the leg', () => {
    const { payouts } = read(pchain[148]?.tx[2], 0, PCHAIN);
    expect(payouts.slice(0, 2)).toEqual([
      {
        vout: 2,
        amounts: new Map([[PCHAIN, 1_200_000_000n]]),
        addresses: ['RDtUEQKR5WBQ3vu9eWNaS3ATack5N2eo1b'],
        isNextLeg: true,
      },
      {
        vout: 3,
        amounts: new Map([[ROOT, 2_072_054_336n]]),
        addresses: ['RWLnKY91wJAAAtpKM13QeK4zraYW1V9NXn'],
        isNextLeg: true,
      },
    ]);
  });

  it('have no prices in the first block of a chain, which has no notarization of its own yet', () => {
    const { prices, payouts } = read(pchain[1]?.tx[0], 8, PCHAIN);
    expect(prices).toBeNull();
    expect(payouts.map(({ vout }) => vout)).toEqual([11, 12]);
  });
});
