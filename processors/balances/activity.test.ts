import { describe, expect, test } from 'vitest';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import { block, decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN, recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveActivity } from './activity.ts';
import { deriveOutputs } from './outputs.ts';

const NATIVE = RECORDED_CHAIN.nativeCurrencyId;
type Flow = { received: bigint; sent: bigint };

interface Delta {
  readonly txid: string;
  readonly height: number;
  readonly blockindex: number;
  readonly satoshis: ExactNumber;
  readonly currencyvalues?: Readonly<Record<string, ExactNumber>>;
}

describe('recorded', () => {
  const { all, derived } = foldRecording();
  const known =
    recordedTruth<{ address: string; getaddressdeltas: Delta[]; getaddresstxids: string[] }[]>('truth/address.json.gz');
  const rowsOf = Map.groupBy(all('activity'), ({ address }) => address);
  const rows = (address: string) => rowsOf.get(address) ?? [];

  test('the daemon’s deltas of every recorded address, summed by transaction', () => {
    let deltas = 0;
    for (const { address, getaddressdeltas } of known) {
      const want = new Map<string, Flow & { height: number; txIndex: number; currencies: Record<string, bigint> }>();
      for (const { txid, height, blockindex, satoshis, currencyvalues } of getaddressdeltas) {
        if (height <= 0) continue; // genesis, mempool
        deltas += 1;
        const row = want.get(txid) ?? { height, txIndex: blockindex, received: 0n, sent: 0n, currencies: {} };
        const amount = BigInt(String(satoshis));
        row[amount < 0n ? 'sent' : 'received'] += amount < 0n ? -amount : amount;
        for (const [currencyId, coins] of Object.entries(currencyvalues ?? {})) {
          if (currencyId !== NATIVE)
            row.currencies[currencyId] = (row.currencies[currencyId] ?? 0n) + coinsToSatoshis(coins);
        }
        want.set(txid, row);
      }
      const got = rows(address).map(({ txid, height, txIndex, received, sent, currencies }) => {
        const net = Object.entries(currencies).map(([id, flow]) => [id, flow.received - flow.sent] as const);
        return [txid, { height, txIndex, received, sent, currencies: Object.fromEntries(net) }] as const;
      });
      expect(new Map(got), address).toEqual(want);
      expect(got.length).toBe(want.size);
    }
    expect(deltas).toBeGreaterThan(5000);
  });

  test('transactions of every recorded address, in the order of the chain', () => {
    for (const { address, getaddresstxids } of known) {
      const derivedIds = rows(address).map(({ txid }) => txid);
      expect(new Set(derivedIds), address).toEqual(new Set(getaddresstxids));
    }
  });

  test('rows of a block are in order of transactions, one per address', () => {
    for (const { facts } of derived) {
      const own = facts.filter((fact) => fact.type === 'activity');
      expect(own.map(({ txIndex }) => txIndex)).toEqual(own.map(({ txIndex }) => txIndex).sort((a, b) => a - b));
      expect(new Set(own.map(({ txid, address }) => txid + address)).size).toBe(own.length);
    }
  });

  test('genesis credits no address', () => {
    expect(derived[0]?.facts.filter(({ type }) => type === 'activity' || type === 'balance')).toEqual([]);
    expect(derived[0]?.facts.filter(({ type }) => type === 'output')).toHaveLength(1);
  });
});

test('a payment to oneself shows on both sides, tokens as well', () => {
  const state = createMemoryState(RECORDED_CHAIN);
  const tokens = (n: number, amount: number, address: string) =>
    output(n, '10', decodedAs('reserveoutput', `{"currencyvalues":{"iC":${amount}}}`, [address]));
  const earlier = block(1, [transaction('a', [], [tokens(0, 5, 'RX'), output(1, '7', payTo('RX'))])]);
  state.apply(1, deriveOutputs({ block: earlier, clock: 0 }, state));
  const made = block(2, [transaction('b', ['a:0', 'a:1'], [tokens(0, 2, 'RX'), tokens(1, 3, 'RY')])]);
  state.apply(2, deriveOutputs({ block: made, clock: 0 }, state));
  expect(deriveActivity({ block: made, clock: 0 }, state)).toEqual([
    {
      type: 'activity',
      address: 'RX',
      txid: 'b',
      txIndex: 0,
      received: 10n,
      sent: 17n,
      currencies: { iC: { received: 200_000_000n, sent: 500_000_000n } },
    },
    {
      type: 'activity',
      address: 'RY',
      txid: 'b',
      txIndex: 0,
      received: 10n,
      sent: 0n,
      currencies: { iC: { received: 300_000_000n, sent: 0n } },
    },
  ]);
});
