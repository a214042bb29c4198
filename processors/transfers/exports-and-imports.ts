import { EXPORT_FLAGS, IMPORT_FLAGS } from '../../domain/flags.ts';
import type { ExportFact, ImportFact } from '../../schemas/facts.ts';
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import { conversionObject, type DaemonExport, type DaemonImport } from '../../schemas/verusd/conversion-objects.ts';
import { asFlags } from '../decoding/decoded-object.ts';
import type { BlockInput } from '../state/chain-state.ts';

/** Whether the import output only continues its source system's thread and repeats the output before it. */
export function isSystemThread(imported: Pick<DaemonImport, 'flags'>): boolean {
  return (imported.flags & IMPORT_FLAGS.SYSTEM_THREAD) !== 0;
}

/** Every export and import of the block, in block order; thread continuations and supplements are left out. */
export function deriveExportsAndImports({ block }: BlockInput): (ExportFact | ImportFact)[] {
  const facts: (ExportFact | ImportFact)[] = [];
  for (const [txIndex, tx] of block.tx.entries()) {
    for (const { n, scriptPubKey } of tx.vout) {
      const exported = conversionObject(scriptPubKey, 'crosschainexport');
      if (exported && !exported.issupplemental && !(exported.flags & EXPORT_FLAGS.SYSTEM_THREAD)) {
        facts.push(exportFact(tx, txIndex, n, exported));
      }
      const imported = conversionObject(scriptPubKey, 'crosschainimport');
      if (imported && !isSystemThread(imported)) facts.push(importFact(tx, txIndex, n, imported));
    }
  }
  return facts;
}

function exportFact(tx: DaemonTransaction, txIndex: number, vout: number, exported: DaemonExport): ExportFact {
  const { numinputs, firstinput, rewardaddress } = exported;
  const inputs = numinputs > 0 ? tx.vin.slice(firstinput, firstinput + numinputs) : [];
  return {
    type: 'export',
    txid: tx.txid,
    vout,
    txIndex,
    currencyId: exported.destinationcurrencyid,
    sourceSystemId: exported.sourcesystemid,
    destinationSystemId: exported.destinationsystemid,
    flags: asFlags(exported.flags),
    rewardAddress: typeof rewardaddress === 'string' && rewardaddress !== '' ? rewardaddress : null,
    transfers: inputs.flatMap((input) =>
      input.txid === undefined || input.vout === undefined ? [] : [{ txid: input.txid, vout: input.vout }],
    ),
  };
}

function importFact(tx: DaemonTransaction, txIndex: number, vout: number, imported: DaemonImport): ImportFact {
  return {
    type: 'import',
    txid: tx.txid,
    vout,
    txIndex,
    currencyId: imported.importcurrencyid,
    sourceSystemId: imported.sourcesystemid,
    exportTxid: imported.exporttxid,
    exportVout: imported.exporttxout,
    flags: asFlags(imported.flags),
  };
}
