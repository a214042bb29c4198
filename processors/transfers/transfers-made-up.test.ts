/** The life of transfers that the recordings do not contain, in hand-made blocks of the daemon's shape. */
import { describe, expect, it } from 'vitest';
import { satoshisToCoins } from '../../domain/satoshi.ts';
import type { TransferFact } from '../../schemas/facts.ts';
import type { DaemonBlock, DaemonOutput } from '../../schemas/verusd/block.ts';
import { block, decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { lastTransfers } from '../../test/support/processors/chain-pair.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { foldChain } from '../../test/support/processors/recorded-fold.ts';

const NATIVE = RECORDED_CHAIN.nativeCurrencyId;
const BASKET = 'iJgtXDdhGvFKR6Bpu9pAqgQd1oxRm7REZk';
const RESERVE = 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV';
const SYSTEM = 'i9nwxtKuVYX4MSbeULLiK2ttVi6rUEhh4X';
const COIN = 100_000_000n;
/** Reserve units for one basket token. */
const PRICE = { [NATIVE]: 2n * COIN, [RESERVE]: 4n * COIN };
const VIA_PRICE = { [NATIVE]: 2n * COIN, [RESERVE]: 3n * COIN };

const address = (n: number): string => `R${'abcdefgh'[n]?.repeat(33)}`;
const id = (name: string): string => name.padStart(64, '0');

interface RequestedTransfer {
  readonly flags: number;
  readonly from: string;
  readonly to: string;
  readonly via?: string;
  readonly amount: bigint;
  readonly nextLeg?: boolean;
}

const BUY: RequestedTransfer = { flags: 3, from: NATIVE, to: BASKET, amount: 10n * COIN };
const DUST: RequestedTransfer = { flags: 3, from: RESERVE, to: BASKET, amount: 3n };
const BURN: RequestedTransfer = { flags: 641, from: BASKET, to: BASKET, amount: 2n * COIN };
const MINT: RequestedTransfer = { flags: 33, from: NATIVE, to: BASKET, amount: 5n * COIN };
const VIA: RequestedTransfer = { flags: 1027, from: NATIVE, to: RESERVE, via: BASKET, amount: 8n * COIN };
const ONWARD: RequestedTransfer = { ...BUY, amount: 6n * COIN, nextLeg: true };

/** A transfer that the daemon lists as `index`; each has a different destination. */
function transferObject({ flags, from, to, via, amount, nextLeg }: RequestedTransfer, index: number): string {
  const destination = { address: address(index), type: nextLeg ? 130 : 2, ...(nextLeg && { gateway: SYSTEM }) };
  const currencies = `{"${from}":${satoshisToCoins(amount)}}`;
  return `{"version":1,"currencyvalues":${currencies},"flags":${flags},"feecurrencyid":"${NATIVE}","fees":0.00020000,
    "destinationcurrencyid":"${to}",${via ? `"via":"${via}",` : ''}"destination":${JSON.stringify(destination)}}`;
}

type Paid = readonly [currencyId: string, amount: bigint, to: number];

function payout(n: number, [currencyId, amount, to]: Paid): DaemonOutput {
  if (currencyId === NATIVE) return output(n, String(amount), payTo(address(to)));
  const held = `{"currencyvalues":{"${currencyId}":${satoshisToCoins(amount)}}}`;
  return output(n, '0', decodedAs('reserveoutput', held, [address(to)]));
}

/** Requested in block 1; gathered for `destination` and executed in block 3, which pays `paid` and then the block's producer. */
function chain(
  asked: readonly RequestedTransfer[],
  paid: readonly (Paid | string)[],
  destination: string,
): DaemonBlock[] {
  const requests = asked.map((each, n) => output(n, '20000', decodedAs('reservetransfer', transferObject(each, n))));
  const systems = `"sourcesystemid":"${NATIVE}"`;
  const exported = `{"flags":128,${systems},"destinationsystemid":"${destination}","destinationcurrencyid":"${BASKET}",
    "numinputs":${asked.length},"firstinput":0,"rewardaddress":""}`;
  const imported = `{"flags":12,${systems},"importcurrencyid":"${BASKET}","numoutputs":${paid.length + 1},
    "exporttxid":"${id('e')}","exporttxout":0}`;
  const prices = [NATIVE, RESERVE].map((each) => {
    const [price, via] = [PRICE[each] ?? 0n, VIA_PRICE[each] ?? 0n].map(satoshisToCoins);
    return `"${each}":{"lastconversionprice":${price},"viaconversionprice":${via}}`;
  });
  const state = `{"flags":49,"currencyid":"${BASKET}","supply":1.0,"currencies":{${prices.join()}}}`;
  const notarization = `{"samechain":true,"currencyid":"${BASKET}","currencystate":${state}}`;
  const payouts = paid.map((each, index) =>
    typeof each === 'string' ? output(index + 2, '20000', each) : payout(index + 2, each),
  );
  const coinbase = (height: number) => transaction(id(`c${height}`), [], [output(0, '600000000', payTo(address(7)))]);
  return [
    block(0, [coinbase(0)]),
    block(1, [coinbase(1), transaction(id('a'), [`${id('c0')}:0`], requests)]),
    block(2, [coinbase(2)]),
    block(3, [
      coinbase(3),
      transaction(
        id('e'),
        asked.map((_, n) => `${id('a')}:${n}`),
        [output(0, '0', decodedAs('crosschainexport', exported))],
      ),
      transaction(
        id('f'),
        [`${id('c2')}:0`],
        [
          output(0, '0', decodedAs('crosschainimport', imported)),
          output(1, '0', decodedAs('acceptednotarization', notarization)),
          ...payouts,
          output(payouts.length + 2, '30000', payTo(address(6))),
        ],
      ),
    ]),
  ];
}

/** Versions by height of the transfer at `n`, and the last of each. */
function settle(asked: readonly RequestedTransfer[], paid: readonly (Paid | string)[], destination = NATIVE) {
  const fold = foldChain(chain(asked, paid, destination), RECORDED_CHAIN);
  const last = lastTransfers(fold);
  const of = (n: number) => last.get(`${id('a')}:${n}`) as TransferFact;
  return { fold, last, of, outcomes: asked.map((_, n) => [of(n).status, of(n).amountOut, of(n).payoutVout]) };
}

describe('a block that settles one of each', () => {
  const asked = [BUY, DUST, BURN, MINT, VIA];
  // Bought and sold at the import's prices, after 0.025 % a leg, every step rounded down.
  const bought = ((10n * COIN - 250_000n) * COIN) / (2n * COIN);
  const sold = (((8n * COIN - 400_000n) * COIN) / (2n * COIN)) * 3n;
  const paid: Paid[] = [
    [BASKET, bought, 0],
    [BASKET, 5n * COIN, 3],
    [RESERVE, sold, 4],
  ];

  it('requested, then exported and settled: paid in order, nothing for a burn and for dust', () => {
    const { fold, of, outcomes } = settle(asked, paid);
    expect(outcomes).toEqual([
      ['completed', bought, 2],
      ['completed', 0n, null],
      ['completed', 0n, null],
      ['completed', 5n * COIN, 3],
      ['completed', sold, 4],
    ]);
    expect(asked.map((_, n) => of(n).kind)).toEqual(['convert', 'convert', 'burn', 'mint', 'via']);
    expect(asked.map((_, n) => of(n).conversionFee)).toEqual([250_000n, 0n, 0n, 0n, 400_000n]);
    const versions = fold.all('transfer').filter(({ vout }) => vout === 0);
    expect(versions.map(({ height, status }) => [height, status])).toEqual([
      [1, 'pending'],
      [3, 'completed'],
    ]);
    expect(of(4)).toMatchObject({
      requestHeight: 1,
      exportHeight: 3,
      exportIndex: 4,
      importHeight: 3,
      source: address(7),
    });
  });

  it('returns a transfer that the import refused, and pays the others', () => {
    const refunded: Paid[] = [[NATIVE, BUY.amount, 0], ...paid.slice(1)];
    expect(settle(asked, refunded).outcomes).toEqual([
      ['refunded', null, 2],
      ['completed', 0n, null],
      ['completed', 0n, null],
      ['completed', 5n * COIN, 3],
      ['completed', sold, 4],
    ]);
  });

  it('returns everything when the import could not be solved, including dust, except what was burnt', () => {
    const back: Paid[] = [
      [NATIVE, BUY.amount, 0],
      [RESERVE, DUST.amount, 1],
      [NATIVE, VIA.amount, 3],
    ];
    expect(settle([BUY, DUST, BURN, VIA], back).outcomes).toEqual([
      ['refunded', null, 2],
      ['refunded', null, 3],
      ['completed', 0n, null],
      ['refunded', null, 4],
    ]);
  });

  it('reports a payout that it does not find, and does not guess', () => {
    const { of, outcomes } = settle(
      [BUY, VIA],
      [
        [BASKET, bought - 1n, 0],
        [RESERVE, sold, 1],
      ],
    );
    expect(outcomes).toEqual([
      ['unmatched', null, null],
      ['completed', sold, 3],
    ]);
    expect(of(0).reason).toContain(`pays ${bought} satoshis of ${BASKET} to ${address(0)}`);
  });
});

it('a contribution to the failed launch of a chain is refunded on this chain, and has no outcome on the other', () => {
  const contribution: RequestedTransfer = { ...BUY, flags: 5 };
  const { of } = settle([contribution], [[NATIVE, BUY.amount, 0]], SYSTEM);
  expect(of(0)).toMatchObject({ kind: 'preconvert', status: 'refunded', importHeight: 3, importSystemId: null });
});

describe('a payout that travels on', () => {
  const amount = ((6n * COIN - 150_000n) * COIN) / (2n * COIN);
  const onward: RequestedTransfer = { flags: 65, from: BASKET, to: BASKET, amount };

  it('is a new transfer to the other system, with the payout that made it as its key', () => {
    const leg = decodedAs(
      'reservetransfer',
      transferObject(onward, 0).replace('"flags":65', `"flags":65,"exportto":"${SYSTEM}"`),
    );
    const { of, last } = settle([ONWARD], [leg]);
    expect(of(0)).toMatchObject({ status: 'completed', amountOut: amount, payoutVout: 2, destinationSystemId: SYSTEM });
    expect(of(0).importSystemId).toBeNull();
    expect(last.get(`${id('f')}:2`)).toMatchObject({
      kind: 'send',
      status: 'pending',
      amountIn: amount,
      importSystemId: SYSTEM,
      destinationSystemId: SYSTEM,
      sourceSystemId: null,
    });
  });

  it('ends on this chain when it lacks the fee', () => {
    const { of, last } = settle([ONWARD], [[BASKET, amount, 0]]);
    expect(of(0)).toMatchObject({ status: 'completed', amountOut: amount, payoutVout: 2 });
    expect(last.size).toBe(1);
  });
});
