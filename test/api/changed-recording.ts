/** A daemon that serves the recorded chain with imports that pay differently, which no recording contains. */
import { LosslessNumber } from 'lossless-json';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import { coinsToSatoshis, satoshisToCoins } from '../../domain/satoshi.ts';
import type { FactOf } from '../../schemas/facts.ts';
import { startScriptedDaemon } from '../support/infra/verusd/scripted-daemon.ts';
import type { FollowedNode } from './running-service.ts';
import { blocks, type LooseJson, tip } from './truth.ts';

export type ImportedTransfer = FactOf<'transfer'> & { readonly importTxid: string; readonly importHeight: number };

export interface ChangedImport {
  readonly transfer: ImportedTransfer;
  /** The payout goes to a stranger, or the import states four times, or a quarter of, the price of this currency by which it pays. */
  readonly how: 'misdirected' | { readonly currencyId: string; readonly timesFour: boolean };
}

const STRANGER = 'RStrangerStrangerStrangerStrangerS';

/** The block with all of these changes. */
function changed(block: LooseJson, changes: readonly ChangedImport[]): LooseJson {
  const copy: LooseJson = parseExact(stringifyExact(block));
  for (const { transfer, how } of changes) {
    const tx = copy.tx.find(({ txid }: LooseJson) => txid === transfer.importTxid);
    if (how === 'misdirected') tx.vout[transfer.payoutVout ?? -1].scriptPubKey.addresses = [STRANGER];
    else reprice(tx, how);
  }
  return copy;
}

/** Lets the import of a transaction state other prices than it pays by. */
export function reprice(tx: LooseJson, { currencyId, timesFour }: Exclude<ChangedImport['how'], 'misdirected'>): void {
  for (const { scriptPubKey } of tx.vout) {
    const prices = scriptPubKey.acceptednotarization?.currencystate.currencies?.[currencyId];
    if (!prices) continue;
    for (const name of ['lastconversionprice', 'viaconversionprice']) {
      const price = coinsToSatoshis(prices[name]);
      prices[name] = new LosslessNumber(satoshisToCoins(timesFour ? price * 4n : price / 4n));
    }
  }
}

/** The recorded blocks with these changes. */
export function changedBlocks(changes: readonly ChangedImport[]): readonly LooseJson[] {
  const byHeight = Map.groupBy(changes, ({ transfer }) => transfer.importHeight);
  return blocks.map((block) => {
    const ofBlock = byHeight.get(block.height);
    return ofBlock ? changed(block, ofBlock) : block;
  });
}

export async function startChangedRecording(served: readonly LooseJson[]): Promise<FollowedNode> {
  const heights = new Map(blocks.map(({ hash, height }) => [hash, height]));
  const refs = blocks.map(({ hash, height }) => ({ hash, height }));
  const newest = refs[tip] as { readonly hash: string; readonly height: number };
  const daemon = await startScriptedDaemon({
    chain: {
      tip: () => newest,
      at: (height) => refs[height],
      textOf(hash) {
        const height = heights.get(hash);
        return height === undefined ? undefined : stringifyExact(served[height]);
      },
    },
  });
  return { url: daemon.rpc, ...newest, stop: () => daemon.stop() };
}
