import { beforeAll, describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import { ARRIVAL_PLACES, type TransferFact } from '../../schemas/facts.ts';
import type { CurrencyMap, DaemonBlock } from '../../schemas/verusd/block.ts';
import type { DaemonExport, DaemonImport, DaemonReserveTransfer } from '../../schemas/verusd/conversion-objects.ts';
import { foldPaired, lastTransfers, PAIRED_CHAINS, pairedBlocks } from '../../test/support/processors/chain-pair.ts';
import { recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import type { RecordedFold } from '../../test/support/processors/recorded-fold.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { isSystemThread } from './exports-and-imports.ts';
import { arrivedTerms } from './transfer-terms.ts';
import { deriveTransfers } from './transfers.ts';

interface Sent {
  readonly chain: 'root' | 'pchain';
  readonly txid: string;
  readonly height: number;
  readonly deltas_on_pchain: readonly {
    readonly txid: string;
    readonly index: number;
    readonly height: number;
    readonly address: string;
    readonly blocktime: number;
    readonly currencyvalues: CurrencyMap;
  }[];
}

interface RecordedExport {
  readonly height: number;
  readonly txid: string;
  readonly txoutnum: number;
  readonly exportinfo: DaemonExport;
  readonly transfers: readonly DaemonReserveTransfer[];
}

interface RecordedImport {
  readonly importheight: number;
  readonly importtxid: string;
  readonly importvout: number;
  readonly import: DaemonImport;
  readonly transfers: readonly DaemonReserveTransfer[];
}

const SIDES = ['root', 'pchain'] as const;
const ROOT = PAIRED_CHAINS.root.nativeCurrencyId;
const PCHAIN = PAIRED_CHAINS.pchain.nativeCurrencyId;
const BRIDGE = 'iJgtXDdhGvFKR6Bpu9pAqgQd1oxRm7REZk';

let folds: Record<(typeof SIDES)[number], RecordedFold>;
let root: Map<string, TransferFact>;
let pchain: Map<string, TransferFact>;
beforeAll(() => {
  folds = { root: foldPaired('root'), pchain: foldPaired('pchain') };
  root = lastTransfers(folds.root);
  pchain = lastTransfers(folds.pchain);
});

const underExport = ({ exportTxid, exportVout, exportIndex }: TransferFact) =>
  `${exportTxid}:${exportVout}:${exportIndex}`;
const arrivals = (transfers: Map<string, TransferFact>): TransferFact[] =>
  [...transfers.values()].filter(({ sourceSystemId }) => sourceSystemId !== null);

/** The entries of all three currencies, each once, because a system's list repeats those of its converter. */
function recorded<T>(side: string, file: 'imports' | 'exports', key: (entry: T) => string): Map<string, T> {
  const lists = recordedTruth<Record<string, T[] | null>>(`../pbaas/${side}/series/${file}.json.gz`);
  return new Map(Object.values(lists).flatMap((list) => (list ?? []).map((entry) => [key(entry), entry] as const)));
}

describe('the recorded pair', () => {
  it.each(SIDES)('has the exports of getexports on %s, each with its transfers in their order', (side) => {
    const said = recorded<RecordedExport>(side, 'exports', ({ txid, txoutnum }) => `${txid}:${txoutnum}`);
    const transfers = side === 'root' ? root : pchain;
    const derived = folds[side].all('export');
    expect(new Set(derived.map(({ txid, vout }) => `${txid}:${vout}`))).toEqual(new Set(said.keys()));
    for (const made of derived) {
      const { height, exportinfo, transfers: listed } = said.get(`${made.txid}:${made.vout}`) ?? {};
      expect({ height, id: exportinfo?.destinationcurrencyid, flags: exportinfo?.flags }).toEqual({
        height: made.height,
        id: made.currencyId,
        flags: made.flags,
      });
      const gathered = made.transfers.map(({ txid, vout }) => transfers.get(`${txid}:${vout}`));
      expect(gathered).toMatchObject(
        (listed ?? []).map((transfer, exportIndex) => {
          const { destinationSystemId: _, importSystemId: __, ...terms } = arrivedTerms(transfer);
          return { ...terms, exportTxid: made.txid, exportVout: made.vout, exportIndex };
        }),
      );
    }
    expect(derived.length).toBeGreaterThan(2);
  });

  it.each(SIDES)('has the imports of getimports on %s, each with its transfers in their order', (side) => {
    const said = recorded<RecordedImport>(side, 'imports', (entry) => `${entry.importtxid}:${entry.importvout}`);
    const derived = folds[side].all('import');
    // A system's own list also has the outputs that continue its thread; each repeats the import next to it.
    const executing = [...said].filter(([, entry]) => !isSystemThread(entry.import)).map(([key]) => key);
    expect(new Set(derived.map(({ txid, vout }) => `${txid}:${vout}`))).toEqual(new Set(executing));
    for (const { txid, vout, height, exportTxid, exportVout, sourceSystemId } of derived) {
      const { importheight, import: imported, transfers: listed = [] } = said.get(`${txid}:${vout}`) ?? {};
      expect([importheight, imported?.exporttxid, imported?.exporttxout]).toEqual([height, exportTxid, exportVout]);
      if (sourceSystemId === PAIRED_CHAINS[side].nativeCurrencyId) continue;
      const arrived = arrivals(side === 'root' ? root : pchain).filter(({ importTxid }) => importTxid === txid);
      expect(arrived).toMatchObject(listed.map((transfer) => arrivedTerms(transfer)));
    }
    expect(derived.length).toBeGreaterThan(1);
  });

  it('leaves transfers to the other chain exported, identified by their place in the export', () => {
    const departed = [...root.values()].filter(({ importSystemId }) => importSystemId !== null);
    expect(departed).toHaveLength(4);
    for (const transfer of departed) {
      expect(transfer).toMatchObject({ status: 'exported', importSystemId: PCHAIN, importTxid: null, amountOut: null });
    }
    const sent = recordedTruth<Sent[]>('../pbaas/root/transfers.json').filter(({ chain }) => chain === 'root');
    expect(sent.map(({ txid }) => root.get(`${txid}:0`)?.exportHeight)).toEqual([321, 321, 321]);
  });

  it('matches by export: every arrival is one departure with the same terms, paid as the daemon reports', () => {
    const departed = new Map([...root.values()].map((transfer) => [underExport(transfer), transfer]));
    const arrived = arrivals(pchain);
    expect(arrived).toHaveLength(4);
    for (const end of arrived) {
      expect(end.sourceSystemId).toBe(ROOT);
      expect([end.txid, end.vout]).toEqual([
        end.exportTxid,
        (end.exportVout ?? 0) * ARRIVAL_PLACES + (end.exportIndex ?? 0),
      ]);
      const start = departed.get(underExport(end));
      const { kind, fromCurrencyId, toCurrencyId, viaCurrencyId, amountIn, conversionFee, destination } = end;
      const terms = { kind, fromCurrencyId, toCurrencyId, viaCurrencyId, amountIn, conversionFee, destination };
      expect(start).toMatchObject(terms);
    }
    const sent = recordedTruth<Sent[]>('../pbaas/pchain/transfers.json').filter(({ chain }) => chain === 'root');
    expect(sent).toHaveLength(3);
    for (const { txid, height, deltas_on_pchain: deltas } of sent) {
      const start = root.get(`${txid}:0`);
      const [delta] = deltas;
      const end = arrived.find((transfer) => start && underExport(transfer) === underExport(start));
      expect(start?.requestHeight).toBe(height);
      expect(end).toMatchObject({
        status: 'completed',
        reason: null,
        destination: delta?.address,
        importTxid: delta?.txid,
        importHeight: delta?.height,
        importTime: delta?.blocktime,
        payoutVout: delta?.index,
        amountOut: coinsToSatoshis(delta?.currencyvalues[end?.toCurrencyId ?? ''] ?? 0),
      });
    }
  });

  it('brings the contribution to the launch, which is not a cross-chain send, to its basket', () => {
    const [contribution] = arrivals(pchain);
    expect(contribution).toMatchObject({
      kind: 'preconvert',
      toCurrencyId: BRIDGE,
      amountIn: 500_125_031_257n,
      amountOut: 500_000_000_000n,
      status: 'completed',
      importHeight: 2,
    });
  });

  it('pays a next leg as a new transfer, which waits in its export for the other chain', () => {
    const [via, send, ...legs] = [...pchain.values()]
      .filter(({ sourceSystemId }) => sourceSystemId === null)
      .sort((a, b) => a.requestHeight - b.requestHeight);
    expect(via).toMatchObject({ kind: 'via', status: 'completed', amountOut: 2_072_054_336n, payoutVout: 3 });
    expect(send).toMatchObject({ kind: 'send', status: 'completed', amountOut: 1_200_000_000n, payoutVout: 2 });
    expect([via?.importSystemId, via?.destinationSystemId]).toEqual([null, ROOT]);
    expect(legs).toHaveLength(2);
    for (const leg of legs) {
      expect(leg).toMatchObject({ txid: via?.importTxid, kind: 'send', status: 'exported', source: null });
      expect([leg.destinationSystemId, leg.importSystemId]).toEqual([ROOT, ROOT]);
      expect(leg.amountIn).toBe([via, send].find((first) => first?.payoutVout === leg.vout)?.amountOut);
    }
    expect(arrivals(root)).toEqual([]);
  });
});

describe('an import from another chain that fails in part', () => {
  let recordedImport: DaemonBlock | undefined;
  beforeAll(() => {
    recordedImport = pairedBlocks('pchain').at(267);
  });

  /** Facts of the recorded import in block 267 after `change`. Transfers from another chain need nothing from the state. */
  function settled(change: (vout: Record<string, unknown>[], header: Record<string, unknown>) => void): TransferFact[] {
    const block = parseExact(stringifyExact(recordedImport)) as DaemonBlock;
    const tx = block.tx[1];
    const header = tx?.vout[0]?.scriptPubKey.crosschainimport as Record<string, unknown>;
    change(tx?.vout as unknown as Record<string, unknown>[], header);
    return deriveTransfers({ block, clock: block.time }, createMemoryState(PAIRED_CHAINS.pchain));
  }

  const paying = (n: number, address: string, coins: string): Record<string, unknown> => ({
    value: 0,
    valueSat: 0,
    n,
    scriptPubKey: {
      type: 'cryptocondition',
      reserveoutput: { currencyvalues: parseExact(`{"${ROOT}":${coins}}`) },
      addresses: [address],
    },
  });

  it('returns everything when the import is refunded as a whole', () => {
    const before = settled(() => undefined);
    expect(before.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    const refunds = before.map(({ payoutVout, destination, amountIn }) =>
      paying(payoutVout ?? -1, destination ?? '', `${amountIn / 100_000_000n}.00000000`),
    );
    const after = settled((vout) => vout.splice(5, 3, ...refunds));
    const converted = before.map(({ kind }) => kind !== 'send');
    expect(after.map(({ status }) => status)).toEqual(converted.map((is) => (is ? 'refunded' : 'completed')));
    expect(after.map(({ payoutVout }) => payoutVout)).toEqual([5, 6, 7]);
  });

  it('needs no price to pay a send, and reports the missing prices of the others', () => {
    const after = settled((vout) => {
      for (const { scriptPubKey } of vout as { scriptPubKey: Record<string, unknown> }[]) {
        if ('acceptednotarization' in scriptPubKey) scriptPubKey.acceptednotarization = 'invalid';
      }
    });
    expect(after.map(({ kind, status }) => [kind, status])).toEqual([
      ['convert', 'unmatched'],
      ['via', 'unmatched'],
      ['send', 'completed'],
    ]);
    expect(after[0]?.reason).toContain('states no price');
  });

  it('reports which transfer it cannot pair and why, and pairs the others', () => {
    const [first] = settled(() => undefined);
    const after = settled((vout, header) => {
      vout.splice(5, 1);
      header.numoutputs = 6;
    });
    expect(after.map(({ status }) => status)).toEqual(['unmatched', 'completed', 'completed']);
    expect(after[0]?.reason).toContain(`no output of the import pays ${first?.amountOut} satoshis of ${BRIDGE}`);
  });
});
