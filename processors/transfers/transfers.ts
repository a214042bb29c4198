/** The life of reserve transfers: requested, exported, settled by an import. See docs/pairing.md. */

import { TRANSFER_FLAGS } from '../../domain/flags.ts';
import { NULL_HASH } from '../../domain/hashes.ts';
import type { ExportFact, TransferFact } from '../../schemas/facts.ts';
import type { DaemonBlock, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { conversionObject, type DaemonImport } from '../../schemas/verusd/conversion-objects.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';
import { isSystemThread } from './exports-and-imports.ts';
import type { ImportPrices } from './transfer-amounts.ts';
import { arrival } from './transfer-arrivals.ts';
import { createTransferBook, type TransferBook, UnknownTransferError } from './transfer-book.ts';
import { pairTransfers } from './transfer-pairing.ts';
import { readImport } from './transfer-payouts.ts';
import { transferRequests } from './transfer-requests.ts';

/**
 * Returns the last version of each transfer that the block changed, in order of first change. Needs the block's outputs and exports
 * applied to `state`, its spends not yet. A transfer between two chains is a fact on both: the chain of the request leaves it exported,
 * the chain of the import records its outcome, and both name its export.
 */
export function deriveTransfers({ block }: BlockInput, state: ChainState): TransferFact[] {
  const book = createTransferBook(state);
  for (const tx of block.tx) {
    book.put(transferRequests(tx, block, state));
    for (const { n, scriptPubKey } of tx.vout) {
      const made = conversionObject(scriptPubKey, 'crosschainexport') && state.export(tx.txid, n);
      if (made) book.put(gathered(made, block, book, state));
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

function gathered(made: ExportFact, { height }: DaemonBlock, book: TransferBook, state: ChainState): TransferFact[] {
  const abroad = made.destinationSystemId === state.chain.nativeCurrencyId ? null : made.destinationSystemId;
  const place = { exportTxid: made.txid, exportVout: made.vout, exportHeight: height, importSystemId: abroad };
  return book
    .gathered(made)
    .map((transfer, exportIndex) => ({ ...transfer, status: 'exported', ...place, exportIndex }));
}

/** Outcomes of the transfers that the import executes; transfers from another chain come first. */
function settled(output: ImportOutput, block: DaemonBlock, book: TransferBook, state: ChainState): TransferFact[] {
  const { tx, vout, imported } = output;
  const source = sourceExport(output, state);
  const local = [...(source ? book.gathered(source) : []), ...arbitrage(tx, book)];
  const { prices, incoming, payouts } = readImport(tx, vout, imported, state.chain.nativeCurrencyId);
  const arrived = source ? [] : incoming.map((transfer, index) => arrival(transfer, index, imported, block));
  const transfers = [...arrived, ...local];
  if (transfers.length === 0) return [];
  if (!prices && local.length > 0) {
    throw new UnknownTransferError(`the currency state after import ${tx.txid}:${vout}`);
  }
  // An import from another system may carry no currency state of this chain: sends need no price; other transfers become `unmatched`.
  const outcomes = pairTransfers(transfers, payouts, prices ?? noPrices(imported.importcurrencyid));
  // When the launch of a chain failed, its export named that system, but its contributions are refunded on this chain.
  const place = { importSystemId: null, importTxid: tx.txid, importHeight: block.height, importTime: block.time };
  return transfers.map((transfer, index) => ({ ...transfer, ...outcomes[index], ...place }));
}

function noPrices(importCurrencyId: string): ImportPrices {
  return { importCurrencyId, isBasket: false, price: new Map(), viaPrice: new Map() };
}

/** The executed export, if it is on this chain; the import of a definition has none at all. */
function sourceExport({ tx, imported }: ImportOutput, state: ChainState): ExportFact | null {
  const { exporttxid, exporttxout, sourcesystemid } = imported;
  const source = state.export(exporttxid, exporttxout);
  if (source) return source;
  if (sourcesystemid !== state.chain.nativeCurrencyId || exporttxid === NULL_HASH) return null;
  throw new UnknownTransferError(`export ${exporttxid}:${exporttxout}, imported by ${tx.txid},`);
}

/** A block producer's own conversions are in no export: the import spends them itself. */
function arbitrage(tx: DaemonTransaction, book: TransferBook): TransferFact[] {
  return tx.vin.flatMap(({ txid, vout }) => {
    const transfer = txid === undefined || vout === undefined ? undefined : book.find(txid, vout);
    return transfer && transfer.flags & TRANSFER_FLAGS.ARBITRAGE_ONLY ? [transfer] : [];
  });
}
