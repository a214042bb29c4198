import { beforeAll, describe, expect, it } from 'vitest';
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import { conversionObject } from '../../schemas/verusd/conversion-objects.ts';
import { foldPaired, PAIRED_CHAINS } from '../../test/support/processors/chain-pair.ts';
import { at, PAID_NOTHING, REFUNDED_MINT, vouts } from '../../test/support/processors/outcomes.ts';
import { RECORDED_CHAIN, recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording, type RecordedFold } from '../../test/support/processors/recorded-fold.ts';
import type { ChainContext } from '../state/chain-state.ts';
import { expectedPayout, type ImportPrices } from './transfer-amounts.ts';
import { pairTransfers, type TransferOutcome } from './transfer-pairing.ts';
import { type Payout, readImport } from './transfer-payouts.ts';
import { type TransferTerms, transferTerms } from './transfer-terms.ts';

interface Pairing {
  readonly transfers: TransferTerms[];
  readonly payouts: Payout[];
  readonly prices: ImportPrices;
}

/** Twelve conversions of one recorded import, all of them paid. */
const TWELVE = '5469d129f59341ee27b9634dc291e004a838375cc66fc3f57795064a0c2fe985';
/** Preconversions into a token: each is paid by two outputs. */
const TOKEN_LAUNCH = 'f8f31cd058c92064e0c9c3a325dd878397080a3a3e96ce744563dba3222988d5';
/** A mint and a burn of a token. */
const MINT_AND_BURN = '62737e1bd0e173f88a60bb5290cbe4b2b7cd2cf715c43d03309087c526ed165e';

let recording: RecordedFold;
let pchain: RecordedFold;
beforeAll(() => {
  recording = foldRecording();
  pchain = foldPaired('pchain');
});

/** The transfers, payouts and prices of the recorded import `txid`. */
function recorded(txid: string, chain = recording, context: ChainContext = RECORDED_CHAIN): Pairing {
  const tx = chain.derived.flatMap(({ block }) => block.tx).find((candidate) => candidate.txid === txid);
  const imported = tx?.vout[0] && conversionObject(tx.vout[0].scriptPubKey, 'crosschainimport');
  if (!tx || !imported) throw new Error(`${txid} is no recorded import`);
  const { prices, incoming, payouts } = readImport(tx, 0, imported, context.nativeCurrencyId);
  if (!prices) throw new Error(`${txid} states no prices`);
  const made = chain
    .all('export')
    .find(({ txid: at, vout }) => at === imported.exporttxid && vout === imported.exporttxout);
  const requests = (made?.transfers ?? []).map((key) => reserveTransfer(chain, key.txid, key.vout));
  return { transfers: [...requests, ...incoming].map(transferTerms), payouts: [...payouts], prices };
}

function reserveTransfer(chain: RecordedFold, txid: string, vout: number) {
  const isRequest = (tx: DaemonTransaction): boolean => tx.txid === txid;
  const output = chain.derived.flatMap(({ block }) => block.tx.filter(isRequest)).at(0)?.vout[vout];
  const transfer = output && conversionObject(output.scriptPubKey, 'reservetransfer');
  if (!transfer) throw new Error(`${txid}:${vout} is no reserve transfer`);
  return transfer;
}

const pair = ({ transfers, payouts, prices }: Pairing): TransferOutcome[] => pairTransfers(transfers, payouts, prices);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

function refundOf({ fromCurrencyId, amountIn, destination }: TransferTerms, vout: number): Payout {
  const amounts = new Map([[fromCurrencyId ?? '', amountIn]]);
  return { vout, amounts, addresses: [destination ?? ''], isNextLeg: false };
}

describe('a recorded import', () => {
  it('pays in the order of its export', () => {
    const outcomes = pair(recorded(TWELVE));
    expect(vouts(outcomes)).toEqual(range(2, 13));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['completed']));
  });

  it('pays proceeds before the tokens of a launch that is not a basket', () => {
    expect(vouts(pair(recorded(TOKEN_LAUNCH)))).toEqual([3, 5, 7]);
  });

  it('skips proceeds, also when the tokens may go to another address', () => {
    const { transfers, payouts, prices } = recorded(TOKEN_LAUNCH);
    transfers[0] = { ...at(transfers, 0), destination: '02'.repeat(33) };
    expect(vouts(pair({ transfers, payouts, prices }))).toEqual([3, 5, 7]);
    // A basket has no proceeds: the output before does not belong to the preconversion.
    expect(at(pair({ transfers, payouts, prices: { ...prices, isBasket: true } }), 0).status).toBe('unmatched');
  });

  it('gives a mint an output and a burn none', () => {
    const { transfers, ...rest } = recorded(MINT_AND_BURN);
    expect(transfers.map(({ kind }) => kind)).toEqual(['mint', 'burn']);
    expect(pair({ transfers, ...rest })).toEqual([
      { status: 'completed', amountOut: at(transfers, 0).amountIn, payoutVout: 2, reason: null },
      PAID_NOTHING,
    ]);
    expect(vouts(pair({ transfers: transfers.toReversed(), ...rest }))).toEqual([null, 2]);
  });

  it('from another chain pays what arrived there', () => {
    interface Sent {
      readonly chain: string;
      readonly deltas_on_pchain: { txid: string; index: number; address: string }[];
    }
    const arrived = recordedTruth<Sent[]>('../pbaas/pchain/transfers.json')
      .filter(({ chain }) => chain === 'root')
      .flatMap(({ deltas_on_pchain }) => deltas_on_pchain);
    const { transfers, ...rest } = recorded(at(arrived, 0).txid, pchain, PAIRED_CHAINS.pchain);
    const paid = pair({ transfers, ...rest }).map(({ payoutVout }, index) => [
      at(transfers, index).destination,
      payoutVout,
    ]);
    expect(paid).toHaveLength(3);
    expect(new Map(paid as [string, number][])).toEqual(new Map(arrived.map(({ address, index }) => [address, index])));
  });
});

describe('an import of a kind that was not recorded', () => {
  it('pays nothing for dust, and the others as before', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    transfers[4] = {
      ...at(transfers, 4),
      amountIn: 1n,
      conversionFee: 0n,
      fromCurrencyId: 'iSWyhQfCfvVk8DeoWzrjwib7eH4NdjEwYp',
    };
    expect(expectedPayout(at(transfers, 4), prices)?.amount).toBe(0n);
    const outcomes = pair({ transfers, payouts: payouts.toSpliced(4, 1), prices });
    expect(outcomes[4]).toEqual(PAID_NOTHING);
    expect(vouts(outcomes)).toEqual([...range(2, 5), null, ...range(7, 13)]);
  });

  it('skips empty outputs', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const empty: Payout = { vout: 99, amounts: new Map(), addresses: ['iSomebody'], isNextLeg: false };
    const outcomes = pair({ transfers, payouts: [empty, ...payouts.slice(0, 3), empty, ...payouts.slice(3)], prices });
    expect(vouts(outcomes)).toEqual(range(2, 13));
  });

  it('refunds every transfer when its prices could not be solved', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const refunds = transfers.map((transfer, index) => refundOf(transfer, index + 2));
    const outcomes = pair({ transfers, payouts: [...refunds, ...payouts.slice(12)], prices });
    expect(outcomes).toEqual(
      range(2, 13).map((payoutVout) => ({ status: 'refunded', amountOut: null, payoutVout, reason: null })),
    );
  });

  it('refunds dust too when it refunds everything, and burns stay burnt', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const zero = { ...prices, price: new Map([...prices.price.keys()].map((id) => [id, 0n])) };
    const burn: TransferTerms = { ...at(transfers, 0), kind: 'burn', flags: 641, conversionFee: 0n };
    const refunds = transfers.map((transfer, index) => refundOf(transfer, index + 2));
    const outcomes = pair({
      transfers: [burn, ...transfers],
      payouts: [...refunds, ...payouts.slice(12)],
      prices: zero,
    });
    expect(outcomes[0]).toEqual(PAID_NOTHING);
    expect(vouts(outcomes.slice(1))).toEqual(range(2, 13));
    expect(new Set(outcomes.slice(1).map(({ status }) => status))).toEqual(new Set(['refunded']));
  });

  it('refunds mints when it refunds everything, which returns nothing', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const refunds = transfers.map((transfer, index) => refundOf(transfer, index + 3));
    const mint: TransferTerms = { ...at(transfers, 0), kind: 'mint', fromCurrencyId: null, conversionFee: 0n };
    const empty: Payout = { vout: 2, amounts: new Map(), addresses: [mint.destination ?? ''], isNextLeg: false };
    const outcomes = pair({
      transfers: [mint, ...transfers],
      payouts: [empty, ...refunds, ...payouts.slice(12)],
      prices,
    });
    expect(outcomes[0]).toEqual(REFUNDED_MINT);
    expect(vouts(outcomes.slice(1))).toEqual(range(3, 14));
    // A refund that was decided at the export does not mean that the other transfers are refunded.
    const marked: TransferTerms = { ...at(transfers, 0), kind: 'send', flags: 0x801 };
    expect(pair({ transfers: [mint, marked], payouts: [empty, refundOf(marked, 3)], prices })).toEqual([
      PAID_NOTHING,
      { status: 'refunded', amountOut: null, payoutVout: 3, reason: null },
    ]);
  });

  it('refunds the one preconversion that would exceed the maximum', () => {
    const { transfers, payouts, prices } = recorded(TOKEN_LAUNCH);
    const refund = refundOf(at(transfers, 1), 4);
    const outcomes = pair({ transfers, payouts: [...payouts.slice(0, 2), refund, ...payouts.slice(4)], prices });
    expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'refunded', 'completed']);
    expect(vouts(outcomes)).toEqual([3, 4, 7]);
  });

  it('returns a transfer that was marked as a refund when it was exported', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const marked: TransferTerms = {
      ...at(transfers, 0),
      kind: 'send',
      flags: 0x801,
      toCurrencyId: 'iX',
      conversionFee: 0n,
    };
    const returned = { ...marked, toCurrencyId: marked.fromCurrencyId ?? '' };
    const [outcome] = pair({ transfers: [returned], payouts: [refundOf(marked, 2), ...payouts.slice(12)], prices });
    expect(outcome).toEqual({ status: 'refunded', amountOut: null, payoutVout: 2, reason: null });
  });

  it('ends a next leg that lacks its fee as a plain output, fee on top', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const { currencyId, amount } = expectedPayout(at(transfers, 0), prices) ?? { currencyId: '', amount: 0n };
    transfers[0] = { ...at(transfers, 0), destination: '0xabc', destinationSystemId: 'iEth' };
    const withFee = new Map([[currencyId, amount + 77n]]);
    payouts[0] = { ...at(payouts, 0), amounts: withFee, addresses: ['RAux'] };
    expect(at(pair({ transfers, payouts, prices }), 0)).toMatchObject({
      status: 'completed',
      amountOut: amount,
      payoutVout: 2,
    });
    payouts[0] = {
      ...at(payouts, 0),
      amounts: new Map([
        [currencyId, amount],
        ['iEth', 77n],
      ]),
    };
    expect(vouts(pair({ transfers, payouts, prices }))).toEqual(range(2, 13));
    payouts[0] = { ...at(payouts, 0), amounts: withFee, isNextLeg: true };
    expect(at(pair({ transfers, payouts, prices }), 0).status).toBe('unmatched');
  });

  it('pays nothing for a mint that it cancels', () => {
    const { transfers, payouts, prices } = recorded(MINT_AND_BURN);
    payouts[0] = { ...at(payouts, 0), amounts: new Map() };
    expect(pair({ transfers, payouts, prices })).toEqual([PAID_NOTHING, PAID_NOTHING]);
    expect(at(pair({ transfers, payouts: payouts.slice(1), prices }), 0).status).toBe('unmatched');
  });
});

describe('an import whose outputs do not match its transfers', () => {
  it('finds the others by destination, currency and amount, and reports what is missing', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const missing = at(transfers, 5);
    const expected = expectedPayout(missing, prices);
    const outcomes = pair({ transfers, payouts: payouts.toSpliced(5, 1), prices });
    expect(outcomes[5]).toEqual({
      status: 'unmatched',
      amountOut: null,
      payoutVout: null,
      reason:
        `no output of the import pays ${expected?.amount} satoshis of ${expected?.currencyId} to ${missing.destination}` +
        ` or returns ${missing.amountIn} satoshis of ${missing.fromCurrencyId}`,
    });
    expect(vouts(outcomes)).toEqual([...range(2, 6), null, ...range(8, 13)]);
  });

  it('does not guess by amount alone', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const elsewhere = { ...at(payouts, 7), addresses: ['RElsewhere'] };
    const outcomes = pair({ transfers, payouts: payouts.toSpliced(7, 1, elsewhere).toSpliced(5, 1), prices });
    expect(outcomes.flatMap(({ status }, index) => (status === 'unmatched' ? [index] : []))).toEqual([5, 7]);
  });

  it('does not give an unpaid transfer the equal payout of the next', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const [first, twin] = [at(transfers, 0), { ...at(transfers, 0), destination: at(transfers, 1).destination }];
    const paid = { ...at(payouts, 0), addresses: [twin.destination ?? ''] };
    const outcomes = pair({ transfers: [first, twin], payouts: [paid, ...payouts.slice(12)], prices });
    expect(outcomes.map(({ status }) => status)).toEqual(['unmatched', 'completed']);
  });

  it('gives one output to one of two equal transfers', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const [missing, twin] = [at(transfers, 0), at(transfers, 1)];
    const outcomes = pair({ transfers: [missing, twin, twin], payouts: [at(payouts, 1)], prices });
    expect(outcomes.map(({ status }) => status)).toEqual(['unmatched', 'completed', 'unmatched']);
  });

  it('finds refunds the same way', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    payouts[8] = refundOf(at(transfers, 8), 10);
    const outcomes = pair({ transfers, payouts: payouts.toSpliced(5, 1), prices });
    expect(outcomes[8]).toEqual({ status: 'refunded', amountOut: null, payoutVout: 10, reason: null });
  });

  it('reports a missing price', () => {
    const { transfers, payouts, prices } = recorded(TWELVE);
    const outcomes = pair({ transfers, payouts, prices: { ...prices, price: new Map() } });
    const convert = transfers.findIndex(({ kind }) => kind === 'convert');
    expect(outcomes[convert]?.reason).toContain('states no price');
  });
});
