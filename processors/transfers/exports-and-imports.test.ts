import { beforeAll, describe, expect, it } from 'vitest';
import type { DaemonExport, DaemonImport, DaemonReserveTransfer } from '../../schemas/verusd/conversion-objects.ts';
import { block, decodedAs, output, transaction } from '../../test/support/processors/blocks.ts';
import { foldPaired, PAIRED_CHAINS } from '../../test/support/processors/chain-pair.ts';
import { recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording, type RecordedFold } from '../../test/support/processors/recorded-fold.ts';
import { validateFacts } from '../faults/validate-facts.ts';
import { deriveExportsAndImports } from './exports-and-imports.ts';

type RecordedExport = {
  readonly height: number;
  readonly txid: string;
  readonly txoutnum: number;
  readonly exportinfo: DaemonExport;
  readonly transfers: readonly DaemonReserveTransfer[];
};

type RecordedImport = {
  readonly importheight: number;
  readonly importtxid: string;
  readonly importvout: number;
  readonly import: DaemonImport;
};

let recording: RecordedFold;
beforeAll(() => {
  recording = foldRecording();
});

const byPlace = (a: { txid: string; vout: number }, b: { txid: string; vout: number }): number =>
  a.txid < b.txid ? -1 : a.txid > b.txid ? 1 : a.vout - b.vout;

describe('recorded exports and imports', () => {
  it('are those of getexports, with the same transfers in the same order', () => {
    const recorded = Object.values(recordedTruth<Record<string, RecordedExport[] | null>>('series/exports.json.gz'));
    const said = recorded.flatMap((exports) => exports ?? []);
    const outputs = new Map(
      recording.derived.flatMap(({ block: { tx } }) =>
        tx.flatMap(({ txid, vout }) =>
          vout.map((out) => [`${txid}:${out.n}`, out.scriptPubKey.reservetransfer] as const),
        ),
      ),
    );
    const derived = recording.all('export').map((made) => ({
      height: made.height,
      txid: made.txid,
      vout: made.vout,
      currencyId: made.currencyId,
      systems: [made.sourceSystemId, made.destinationSystemId],
      flags: made.flags,
      rewardAddress: made.rewardAddress,
      transfers: made.transfers.map(({ txid, vout }) => outputs.get(`${txid}:${vout}`)),
    }));
    const expected = said.map(({ height, txid, txoutnum, exportinfo, transfers }) => ({
      height,
      txid,
      vout: txoutnum,
      currencyId: exportinfo.destinationcurrencyid,
      systems: [exportinfo.sourcesystemid, exportinfo.destinationsystemid],
      flags: exportinfo.flags,
      rewardAddress: exportinfo.rewardaddress === '' ? null : exportinfo.rewardaddress,
      transfers,
    }));
    expect(derived.sort(byPlace)).toEqual(expected.sort(byPlace));
    expect(derived).toHaveLength(126);
  });

  it('are those of getimports', () => {
    const recorded = Object.values(recordedTruth<Record<string, RecordedImport[] | null>>('series/imports.json.gz'));
    const expected = recorded
      .flatMap((imports) => imports ?? [])
      .map(({ importheight, importtxid, importvout, import: imported }) => ({
        height: importheight,
        txid: importtxid,
        vout: importvout,
        currencyId: imported.importcurrencyid,
        sourceSystemId: imported.sourcesystemid,
        exportTxid: imported.exporttxid,
        exportVout: imported.exporttxout,
        flags: imported.flags,
      }));
    const derived = recording.all('import').map(({ type: _, txIndex: __, ...imported }) => imported);
    expect(derived.sort(byPlace)).toEqual(expected.sort(byPlace));
    expect(derived).toHaveLength(137);
  });

  it('have the flags without the sign of a set highest bit', () => {
    const text = (flags: number) =>
      `{"flags":${flags},"sourcesystemid":"iS","destinationsystemid":"iS","destinationcurrencyid":"iC","numinputs":0,"firstinput":-1,` +
      `"importcurrencyid":"iC","numoutputs":0,"exporttxid":"00","exporttxout":0}`;
    const derive = (flags: number) => {
      const outputs = [
        output(0, '0', decodedAs('crosschainexport', text(flags))),
        output(1, '0', decodedAs('crosschainimport', text(flags))),
      ];
      const made = deriveExportsAndImports({ block: block(1, [transaction('00', [], outputs)]), clock: 0 });
      validateFacts(made);
      return made;
    };
    expect(derive(12)).toHaveLength(2);
    expect(derive(12 - 2 ** 31)).toEqual(derive(12));
  });

  it('are in block order', () => {
    for (const type of ['export', 'import'] as const) {
      const order = recording.all(type).map(({ height, txIndex, vout }) => height * 1e6 + txIndex * 1e3 + vout);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  });
});

describe('a pair of chains', () => {
  it('has one export of a transfer, although the system thread repeats it', () => {
    const root = foldPaired('root').all('export');
    const keys = root.flatMap(({ transfers }) => transfers.map(({ txid, vout }) => `${txid}:${vout}`));
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(4);
    expect(root.filter(({ height }) => height === 321).map(({ vout }) => vout)).toEqual([1]);
  });

  it('has one import of an export, although the system thread repeats it, and no supplemental export', () => {
    const pchain = foldPaired('pchain');
    const arrived = pchain.all('import').filter(({ height }) => height === 267);
    expect(arrived).toMatchObject([{ vout: 0, flags: 4, sourceSystemId: PAIRED_CHAINS.root.nativeCurrencyId }]);
    expect(pchain.all('export').filter(({ height }) => height === 267)).toEqual([]);
  });
});
