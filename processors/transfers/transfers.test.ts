import { beforeAll, describe, expect, it } from 'vitest';
import { isLiveBasket } from '../../domain/basket-liveness.ts';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { CurrencyAmounts, CurrencyStateFact, TransferFact } from '../../schemas/facts.ts';
import type { CurrencyMap, DaemonBlock, DaemonOutput, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { conversionObject } from '../../schemas/verusd/conversion-objects.ts';
import { foldPaired, lastTransfers, PAIRED_CHAINS, pairedBlocks } from '../../test/support/processors/chain-pair.ts';
import { RECORDED_CHAIN, recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldChain, foldRecording, type RecordedFold } from '../../test/support/processors/recorded-fold.ts';
import { deriveOutputs } from '../balances/outputs.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { UnknownTransferError } from './transfer-book.ts';
import { deriveTransfers } from './transfers.ts';

/** What the recording's wallet sent and what arrived according to the daemon. */
interface RecordedConversion {
  readonly kind: string;
  readonly frmid: string;
  readonly toid: string | null;
  readonly viaid: string | null;
  readonly tx_height: number;
  readonly transfer: {
    readonly txid: string;
    readonly vout: number;
    readonly reservetransfer: {
      readonly currencyvalues: CurrencyMap;
      readonly destination: { readonly address: string };
    };
  };
  readonly export: { readonly txid: string; readonly height: number };
  readonly importtx: { readonly txid: string; readonly height: number; readonly exportvout: number };
  readonly received_exact?: {
    readonly txid: string;
    readonly index: number;
    readonly address: string;
    readonly blocktime: number;
    readonly currencyvalues: CurrencyMap;
  };
}

interface GoldenStamp {
  readonly txid: string;
  readonly vout: number;
  readonly type: string;
  readonly status: string;
  readonly fromCurrencyId: string;
  readonly toCurrencyId: string;
  readonly viaCurrencyId: string | null;
  readonly amountInSat: string;
  readonly amountOutSat: string | null;
  readonly height: number;
  readonly importTxid: string | null;
  readonly importHeight: number | null;
  readonly importVout: number | null;
}

const KINDS: Readonly<Record<string, string>> = {
  'convert-to': 'convert',
  'convert-from': 'convert',
  'convert-via': 'via',
  'preconvert-refund': 'preconvert',
};

let recording: RecordedFold;
let blocks: DaemonBlock[];
let transfers: Map<string, TransferFact>;
beforeAll(() => {
  recording = foldRecording();
  transfers = lastTransfers(recording);
  blocks = recording.derived.map(({ block }) => block);
});

describe('the life of every recorded transfer', () => {
  it('agrees with the daemon’s report of what was sent, exported, imported and received', () => {
    const conversions = recordedTruth<RecordedConversion[]>('truth/conversions.json');
    expect(conversions).toHaveLength(239);
    for (const sent of conversions) {
      const { txid, vout, reservetransfer } = sent.transfer;
      const received = sent.received_exact;
      const isRefund = sent.kind === 'preconvert-refund';
      const isMint = sent.kind === 'mint';
      const [amountIn = 0] = Object.values(reservetransfer.currencyvalues);
      const arrived = received?.currencyvalues[isRefund ? sent.frmid : (sent.toid ?? '')];
      const fact = transfers.get(`${txid}:${vout}`);
      expect(fact, `${txid}:${vout}`).toMatchObject({
        kind: KINDS[sent.kind] ?? sent.kind,
        status: isRefund ? 'refunded' : 'completed',
        fromCurrencyId: isMint ? null : sent.frmid,
        toCurrencyId: sent.toid ?? sent.frmid,
        viaCurrencyId: sent.viaid,
        amountIn: coinsToSatoshis(amountIn),
        amountOut: isRefund ? null : received ? coinsToSatoshis(arrived ?? 0) : 0n,
        destination: reservetransfer.destination.address,
        requestHeight: sent.tx_height,
        exportTxid: sent.export.txid,
        exportVout: sent.importtx.exportvout,
        exportHeight: sent.export.height,
        importTxid: sent.importtx.txid,
        importHeight: sent.importtx.height,
        payoutVout: received?.index ?? null,
        reason: null,
      });
      if (!received) continue;
      expect([received.txid, received.address]).toEqual([fact?.importTxid, fact?.destination]);
      expect(fact?.importTime).toBe(received.blocktime);
      if (isRefund) expect(coinsToSatoshis(arrived ?? 0)).toBe(fact?.amountIn);
    }
  });

  it('agrees with the conversions of the golden stamps', () => {
    const { stamps } = recordedTruth<{ stamps: GoldenStamp[] }>('golden/stamps-A.json');
    expect(stamps.length).toBeGreaterThan(100);
    for (const stamp of stamps) {
      const fact = transfers.get(`${stamp.txid}:${stamp.vout}`);
      expect(fact, `${stamp.txid}:${stamp.vout}`).toMatchObject({
        kind: stamp.type,
        status: stamp.status,
        fromCurrencyId: stamp.type === 'mint' ? null : stamp.fromCurrencyId,
        toCurrencyId: stamp.toCurrencyId,
        viaCurrencyId: stamp.viaCurrencyId,
        amountIn: BigInt(stamp.amountInSat),
        amountOut: stamp.amountOutSat === null ? null : BigInt(stamp.amountOutSat),
        requestHeight: stamp.height,
        importTxid: stamp.importTxid,
        importHeight: stamp.importHeight,
        payoutVout: stamp.importVout,
      });
    }
  });

  it('leaves pending what the wallet reported as pending, and nothing unmatched', () => {
    const made = blocks.flatMap(({ tx }) => tx.map(({ txid }) => txid));
    const sent = recordedTruth<{ txid: string }[]>('truth/pending.json').map(({ txid }) => txid);
    const pending = [...transfers.values()].filter(({ status }) => status === 'pending').map(({ txid }) => txid);
    expect(pending.sort()).toEqual(sent.filter((txid) => made.includes(txid)).sort());
    expect(pending).toHaveLength(2);
    const statuses = new Set([...transfers.values()].map(({ status }) => status));
    expect(statuses).toEqual(new Set(['pending', 'completed', 'refunded']));
  });

  it('knows every reserve transfer output by its key, and names its sender', () => {
    const outputs = new Map<string, DaemonOutput>(
      blocks.flatMap(({ tx }) => tx.flatMap((t) => t.vout.map((out) => [`${t.txid}:${out.n}`, out] as const))),
    );
    const requested: string[] = [];
    for (const { tx } of blocks) {
      for (const { txid, vin, vout } of tx) {
        for (const { n } of vout.filter(({ scriptPubKey }) => scriptPubKey.reservetransfer !== undefined)) {
          requested.push(`${txid}:${n}`);
          const spent = outputs.get(`${vin[0]?.txid}:${vin[0]?.vout}`);
          expect(transfers.get(`${txid}:${n}`)?.source).toBe(spent?.scriptPubKey.addresses?.[0]);
        }
      }
    }
    expect([...transfers.keys()].sort()).toEqual(requested.sort());
  });

  it('has one version per block and transfer, and only moves forward', () => {
    const seen = new Map<string, { height: number; status: string }>();
    const order = ['pending', 'exported', 'completed', 'refunded'];
    for (const { txid, vout, height, status } of recording.all('transfer')) {
      const before = seen.get(`${txid}:${vout}`);
      if (before) expect(height).toBeGreaterThan(before.height);
      else expect(height).toBe(transfers.get(`${txid}:${vout}`)?.requestHeight);
      expect(order.indexOf(status)).toBeGreaterThan(before ? order.indexOf(before.status) : -1);
      seen.set(`${txid}:${vout}`, { height, status });
    }
  });
});

describe('the protocol invariants at every recorded height', () => {
  it('the unspent reserve deposits of a live basket are its reserves', () => {
    const deposits = new Map<string, { owner: string; held: CurrencyAmounts }>();
    let checked = 0;
    const states = new Map<string, CurrencyStateFact>();
    for (const { block, facts } of recording.derived) {
      for (const fact of facts) {
        if (fact.type === 'currency_state') states.set(fact.currencyId, fact);
        if (fact.type === 'spend') deposits.delete(`${fact.txid}:${fact.n}`);
        if (fact.type !== 'output' || fact.kind !== 'reservedeposit') continue;
        const { controllingcurrencyid: owner } = JSON.parse(fact.data ?? '') as { controllingcurrencyid: string };
        const held = { ...fact.currencies, [RECORDED_CHAIN.nativeCurrencyId]: fact.value };
        deposits.set(`${fact.txid}:${fact.n}`, { owner, held });
      }
      for (const { currencyId, flags, reserves } of states.values()) {
        if (!isLiveBasket(flags)) continue;
        const unspent = [...deposits.values()].filter(({ owner }) => owner === currencyId);
        for (const reserve of reserves) {
          const sum = unspent.reduce((total, { held }) => total + (held[reserve.currencyId] ?? 0n), 0n);
          expect(sum, `${reserve.currencyId} of ${currencyId} at ${block.height}`).toBe(reserve.reserves);
          checked++;
        }
      }
    }
    expect(checked).toBeGreaterThan(10_000);
  });

  it('the supply of a launched currency exceeds its unspent outputs by a constant', () => {
    const unspent = new Map<string, CurrencyAmounts>();
    const sums = new Map<string, bigint>();
    const surplus = new Map<string, bigint>();
    const add = (held: CurrencyAmounts, sign: bigint): void => {
      for (const [id, amount] of Object.entries(held)) sums.set(id, (sums.get(id) ?? 0n) + sign * amount);
    };
    const states = new Map<string, CurrencyStateFact>();
    for (const { block, facts } of recording.derived) {
      for (const fact of facts) {
        if (fact.type === 'currency_state') states.set(fact.currencyId, fact);
        const key = 'n' in fact ? `${fact.txid}:${fact.n}` : '';
        if (fact.type === 'output') unspent.set(key, fact.currencies);
        if (fact.type === 'output') add(fact.currencies, 1n);
        if (fact.type === 'spend') add(unspent.get(key) ?? {}, -1n);
      }
      for (const { currencyId, flags, supply } of states.values()) {
        if ((flags & 0x30) !== 0x30) continue;
        const above = supply - (sums.get(currencyId) ?? 0n);
        expect(above).toBeGreaterThanOrEqual(0n);
        expect(above, `${currencyId} at ${block.height}`).toBe(surplus.get(currencyId) ?? above);
        surplus.set(currencyId, above);
      }
    }
    expect(surplus.size).toBe(10);
  });
});

describe('arbitrage', () => {
  const ARBITRAGE_ONLY = 0x4000;
  /** Twelve conversions of one import, in the order 2 … 13 of its outputs. */
  const IMPORT = { height: 510, txid: '5469d129f59341ee27b9634dc291e004a838375cc66fc3f57795064a0c2fe985' };

  it('is settled by the import that spends it, after the transfers of the export', () => {
    const settled = [...transfers.values()].filter(({ importTxid }) => importTxid === IMPORT.txid);
    const last = settled.find(({ payoutVout }) => payoutVout === 13);
    expect(settled).toHaveLength(12);
    // Turns the last transfer of the export into one that the block producer puts straight into the import.
    const changedBlocks = changeable(blocks.slice(0, IMPORT.height + 1));
    const find = (txid: string | null | undefined) => transactionOf(changedBlocks, txid ?? '');
    const request = objectOf(find(last?.txid), last?.vout ?? -1, 'reservetransfer');
    request.flags = Number(request.flags) | ARBITRAGE_ONLY;
    const made = objectOf(find(last?.exportTxid), last?.exportVout ?? -1, 'crosschainexport');
    made.numinputs = 11;
    const inputs = find(last?.exportTxid).vin as unknown[];
    const [moved] = inputs.splice(Number(made.firstinput) + 11, 1);
    (find(IMPORT.txid).vin as unknown[]).splice(1, 0, moved);

    const changed = lastTransfers(foldChain(changedBlocks, RECORDED_CHAIN));
    const { exportTxid, importTxid, payoutVout, amountOut, status } = changed.get(`${last?.txid}:${last?.vout}`) ?? {};
    expect({ exportTxid, importTxid, payoutVout, amountOut, status }).toEqual({
      exportTxid: null,
      importTxid: IMPORT.txid,
      payoutVout: 13,
      amountOut: last?.amountOut,
      status: 'completed',
    });
    for (const before of settled.filter((transfer) => transfer !== last)) {
      expect(changed.get(`${before.txid}:${before.vout}`)).toEqual(before);
    }
  });

  it('is settled after the incoming transfers of another chain', () => {
    const chain = PAIRED_CHAINS.pchain;
    const [arrival] = changeable(pairedBlocks('pchain').slice(267, 268));
    const tx = arrival?.tx[1];
    const template = [...lastTransfers(foldPaired('pchain')).values()].find(({ kind }) => kind === 'via');
    if (!arrival || !tx || !template) throw new Error('the recorded import of block 267 is missing');
    // A send needs no price. It is paid after the three that arrived; only its place can tell, because it has no address.
    const sent: TransferFact = {
      ...template,
      txid: 'ab'.repeat(32),
      vout: 0,
      kind: 'send',
      flags: 1 | ARBITRAGE_ONLY,
      fromCurrencyId: chain.nativeCurrencyId,
      toCurrencyId: chain.nativeCurrencyId,
      amountIn: 500_000_000n,
      destination: null,
      destinationSystemId: null,
      status: 'pending',
      exportTxid: null,
    };
    const paid = {
      value: 5,
      valueSat: 500_000_000,
      n: 8,
      scriptPubKey: { type: 'pubkeyhash', addresses: ['RSomebody'] },
    };
    (tx.vout as unknown[]).splice(8, 0, paid);
    objectOf(tx, 0, 'crosschainimport').numoutputs = 8;
    (tx.vin as unknown[]).splice(1, 0, { txid: sent.txid, vout: 0, sequence: 0 });

    const state = createMemoryState(chain);
    state.put(sent);
    const facts = deriveTransfers({ block: arrival, clock: arrival.time }, state);
    expect(facts.map(({ payoutVout }) => payoutVout)).toEqual([5, 6, 7, 8]);
    expect(facts.at(-1)).toMatchObject({ txid: sent.txid, status: 'completed', amountOut: 500_000_000n });
  });

  /** Copies blocks, with exact numbers, so that a test may change them. */
  function changeable(blocks: readonly DaemonBlock[]): DaemonBlock[] {
    return parseExact(stringifyExact(blocks)) as DaemonBlock[];
  }

  function transactionOf(blocks: readonly DaemonBlock[], txid: string): DaemonTransaction {
    const found = blocks.flatMap(({ tx }) => tx).find((tx) => tx.txid === txid);
    if (!found) throw new Error(`no recorded transaction ${txid}`);
    return found;
  }

  function objectOf(tx: DaemonTransaction, vout: number, kind: string): Record<string, unknown> {
    return tx.vout[vout]?.scriptPubKey[kind] as Record<string, unknown>;
  }
});

describe('a state that lacks a transfer, export or output that the block names', () => {
  /** The recorded block of an import, with its outputs known and nothing before it. */
  function blockAlone(height: number): { block: DaemonBlock; state: ReturnType<typeof createMemoryState> } {
    const block = blocks[height];
    if (!block) throw new Error(`no recorded block ${height}`);
    const state = createMemoryState(RECORDED_CHAIN);
    state.apply(height, deriveOutputs({ block, clock: block.time }, state));
    return { block, state };
  }

  it('stops at an import whose export is unknown', () => {
    const { block, state } = blockAlone(222);
    expect(() => deriveTransfers({ block, clock: block.time }, state)).toThrow(UnknownTransferError);
    expect(() => deriveTransfers({ block, clock: block.time }, state)).toThrow(
      /export d90d3658.*:4, imported by a8ce7df2/,
    );
  });

  it('stops at an export whose transfer is unknown', () => {
    const { block, state } = blockAlone(185);
    const exports = recording.all('export').filter(({ height }) => height === 185);
    state.apply(185, exports);
    expect(() => deriveTransfers({ block, clock: block.time }, state)).toThrow(
      /transfer 1cced9c3.*:0 of export 022dd958/,
    );
  });

  it('stops at a request whose first input is unknown', () => {
    const { block, state } = blockAlone(179);
    const asks = block.tx.some(({ vout }) => vout.some((out) => conversionObject(out.scriptPubKey, 'reservetransfer')));
    expect(asks).toBe(true);
    expect(() => deriveTransfers({ block, clock: block.time }, state)).toThrow(/not among the unspent outputs/);
  });
});
