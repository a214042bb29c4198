/** The life of reserve transfers: requested, exported, settled by an import. docs/pairing.md tells the whole story. */
import type { ExportFact, TransferFact } from '../schemas/facts.ts';
import type { DaemonBlock, DaemonTransaction } from '../schemas/verusd/block.ts';
import { conversionObject, type DaemonImport } from '../schemas/verusd/conversion-objects.ts';
import type { BlockInput, ChainState } from './chain-state.ts';
import { isSystemThread } from './exports-and-imports.ts';
import { createTransferBook, type TransferBook, UnknownTransferError } from './transfer-book.ts';
import { pairTransfers } from './transfer-pairing.ts';
import { readImport } from './transfer-payouts.ts';
import { transferRequests } from './transfer-requests.ts';
import { TRANSFER_ARBITRAGE_ONLY, transferTerms } from './transfer-terms.ts';

const NO_EXPORT = /^0+$/;

/**
 * The last version of each transfer that the block changed, in order of first change. Needs the block's outputs and exports
 * applied to `state`, its spends not yet. Transfers that came from another chain have no request here and give no fact.
 */
export function deriveTransfers({ block }: BlockInput, state: ChainState): TransferFact[] {
  const book = createTransferBook(state);
  for (const tx of block.tx) {
    book.put(transferRequests(tx, block, state));
    for (const { n, scriptPubKey } of tx.vout) {
      const made = conversionObject(scriptPubKey, 'crosschainexport') && state.export(tx.txid, n);
      if (made) book.put(book.gathered(made).map((transfer) => exported(transfer, made, block)));
      const imported = conversionObject(scriptPubKey, 'crosschainimport');
      if (imported && !isSystemThread(imported)) book.put(settled({ tx, vout: n, imported }, block, book, state));
    }
  }
  return book.changed();
}

interface ImportOutput {
  readonly tx: DaemonTransaction;
  readonly vout: number;
  readonly imported: DaemonImport;
}

function exported(transfer: TransferFact, made: ExportFact, { height }: DaemonBlock): TransferFact {
  return { ...transfer, status: 'exported', exportTxid: made.txid, exportVout: made.vout, exportHeight: height };
}

/** What the import makes of the transfers of this chain. Those of another chain only hold their places in the pairing. */
function settled(output: ImportOutput, block: DaemonBlock, book: TransferBook, state: ChainState): TransferFact[] {
  const { tx, vout, imported } = output;
  const source = sourceExport(output, state);
  const local = [...(source ? book.gathered(source) : []), ...arbitrage(tx, book)];
  if (local.length === 0) return [];
  const { prices, incoming, payouts } = readImport(tx, vout, imported, state.chain.nativeCurrencyId);
  if (!prices) throw new UnknownTransferError(state.chain.name, `the currency state after import ${tx.txid}:${vout}`);
  const foreign = source ? [] : incoming.map(transferTerms);
  const outcomes = pairTransfers([...foreign, ...local], payouts, prices).slice(foreign.length);
  const place = { importTxid: tx.txid, importHeight: block.height, importTime: block.time };
  return local.map((transfer, index) => ({ ...transfer, ...outcomes[index], ...place }));
}

/** The export that is executed, if it stands on this chain; a definition's import has none at all. */
function sourceExport({ tx, imported }: ImportOutput, state: ChainState): ExportFact | null {
  const { exporttxid, exporttxout, sourcesystemid } = imported;
  const source = state.export(exporttxid, exporttxout);
  if (source) return source;
  if (sourcesystemid !== state.chain.nativeCurrencyId || NO_EXPORT.test(exporttxid)) return null;
  throw new UnknownTransferError(state.chain.name, `export ${exporttxid}:${exporttxout}, imported by ${tx.txid},`);
}

/** A block producer's own conversions stand in no export: the import spends them itself. */
function arbitrage(tx: DaemonTransaction, book: TransferBook): TransferFact[] {
  return tx.vin.flatMap(({ txid, vout }) => {
    const transfer = txid === undefined || vout === undefined ? undefined : book.find(txid, vout);
    return transfer && transfer.flags & TRANSFER_ARBITRAGE_ONLY ? [transfer] : [];
  });
}
