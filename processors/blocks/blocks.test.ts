import { describe, expect, test } from 'vitest';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { block, decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN, recordedLines } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveBlockRow } from './blocks.ts';

const NATIVE = RECORDED_CHAIN.nativeCurrencyId;
type Header = Record<string, string | number | undefined>;

describe('recorded', () => {
  const { all, derived } = foldRecording();
  const rows = all('block');
  const headers = recordedLines<{ header: Header }>('blocks.jsonl.gz').map(({ header }) => header);

  test('every field of every block, against the daemon’s header', () => {
    expect(rows).toHaveLength(headers.length);
    rows.forEach((row, height) => {
      const header = headers[height] ?? {};
      expect(row).toMatchObject({
        height: header.height,
        hash: header.hash,
        previousHash: header.previousblockhash ?? null,
        time: header.time,
        version: header.version,
        merkleRoot: header.merkleroot,
        nonce: header.nonce,
        bits: header.bits,
        chainWork: header.chainwork,
        chainStake: header.chainstake,
        validationType: header.validationtype,
        difficulty: String(header.difficulty),
        size: derived[height]?.block.size,
        txCount: derived[height]?.block.tx.length,
      });
    });
  });

  test('the clock is the running maximum of block times', () => {
    let clock = 0;
    for (const row of rows) {
      clock = Math.max(clock, row.time);
      expect(row.clock).toBe(clock);
    }
  });

  test('reward, fee pool and producer', () => {
    for (const [height, row] of rows.entries()) {
      const recorded = derived[height]?.block as DaemonBlock;
      const outputs = recorded.tx[0]?.vout ?? [];
      const pools = outputs.flatMap(
        ({ scriptPubKey }) => (scriptPubKey.feepool as { currencyvalues: Record<string, ExactNumber> }) ?? [],
      );
      const paid = outputs.filter(({ scriptPubKey }) => scriptPubKey.feepool === undefined);
      expect(row.reward).toBe(paid.reduce((sum, { value }) => sum + coinsToSatoshis(value), 0n));
      expect(row.feePool).toBe(pools[0] ? coinsToSatoshis(pools[0].currencyvalues[NATIVE] ?? 0) : null);
      // A stake names the address that it pays; the producer of a mined block is the first share of the split.
      expect(row.minerAddress).toBe(recorded.posrewarddest ?? paid[0]?.scriptPubKey.addresses?.[0]);
      const fees = (derived[height]?.facts ?? []).reduce(
        (sum, fact) => sum + (fact.type === 'transaction' ? (fact.fee ?? 0n) : 0n),
        0n,
      );
      expect(row.fees).toBe(fees);
    }
  });

  test('the stake of every staked block', () => {
    for (const [height, { stake }] of rows.entries()) {
      const recorded = derived[height]?.block as DaemonBlock;
      if (recorded.validationtype === 'work') {
        expect(stake).toBeNull();
        continue;
      }
      const last = recorded.tx.at(-1);
      expect(stake).toEqual({
        txid: last?.txid,
        address: recorded.postxddest,
        rewardAddress: recorded.posrewarddest,
        sourceTxid: last?.vin[0]?.txid,
        sourceVout: last?.vin[0]?.vout,
        amount: coinsToSatoshis(last?.vout[0]?.value ?? 0),
      });
    }
    expect(rows.filter(({ stake }) => stake !== null)).toHaveLength(420);
  });
});

describe('made up', () => {
  const row = (made: DaemonBlock) =>
    deriveBlockRow({ block: made, clock: 5 }, createMemoryState(RECORDED_CHAIN), [], []);
  const coinbase = (pool: string) =>
    block(1, [
      transaction('c', [], [output(0, '1000000000000000001', payTo('RX')), output(1, '3', decodedAs('feepool', pool))]),
    ]);

  test('a pool of other currencies has 0 coins, an unreadable one is null, and neither is part of the reward', () => {
    expect(row(coinbase('{"currencyvalues":{"iX":1}}'))).toMatchObject({
      feePool: 0n,
      reward: 1_000_000_000_000_000_001n,
    });
    expect(row(coinbase('"invalid"'))).toMatchObject({ feePool: null, reward: 1_000_000_000_000_000_001n });
  });

  test('a block that pays no address has no producer', () => {
    expect(row(block(1, [transaction('c', [], [])])).minerAddress).toBeNull();
  });

  test('when a staker has the reward sent elsewhere, the receiver is the producer and the owner of the coin the staker', () => {
    const staked = transaction('s', ['a:1'], [output(0, '70', payTo('RX'))]);
    const source = { possourcetxid: 'a', possourcevoutnum: 1, postxddest: 'RX' };
    const made = (more: Partial<DaemonBlock>) =>
      row(block(1, [transaction('c', [], []), staked], { validationtype: 'stake', ...source, ...more }));
    expect(made({ posrewarddest: 'RY' })).toMatchObject({
      minerAddress: 'RY',
      stake: { txid: 's', address: 'RX', rewardAddress: 'RY', sourceTxid: 'a', sourceVout: 1, amount: 70n },
    });
    expect(made({})).toMatchObject({ minerAddress: 'RX', stake: { address: 'RX', rewardAddress: null } });
  });
});
