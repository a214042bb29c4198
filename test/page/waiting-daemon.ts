/**
 * The recorded chain in a daemon whose mempool the test fills, with recorded transactions and with ones that no block will ever contain.
 */
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import type { FollowedNode } from '../api/running-service.ts';
import { blocks, type LooseJson } from '../api/truth.ts';
import { startScriptedDaemon } from '../support/infra/verusd/scripted-daemon.ts';

export interface WaitingDaemon extends FollowedNode {
  /** Transactions of the next block without its coinbase. */
  readonly next: readonly LooseJson[];
  /** Puts a transaction into the mempool; it replaces those that spend the same outputs. */
  put(tx: LooseJson): void;
  /** Adds the next block and removes from the mempool what the block contains, double-spent transactions and expired ones. */
  mine(): void;
}

const spends = ({ vin }: LooseJson): readonly string[] =>
  vin.map(({ txid, vout }: LooseJson) => `${txid}:${String(vout)}`);

export async function startWaitingDaemon(startHeight: number): Promise<WaitingDaemon> {
  const refs = blocks.map(({ hash, height }) => ({ hash: String(hash), height: Number(height) }));
  const heights = new Map(refs.map(({ hash, height }) => [hash, height]));
  const waiting = new Map<string, LooseJson>();
  let height = startHeight;
  const refAt = (at: number) => (at <= height ? refs[at] : undefined);
  const newest = () => refs[height] as (typeof refs)[number];
  const daemon = await startScriptedDaemon({
    chain: {
      tip: newest,
      at: refAt,
      textOf(hash) {
        const at = heights.get(hash);
        return at === undefined || at > height ? undefined : stringifyExact(blocks[at]);
      },
      waiting: () => new Map([...waiting].map(([txid, tx]) => [txid, stringifyExact(tx)])),
    },
  });

  function dropWhere(isGone: (tx: LooseJson) => boolean): void {
    for (const [txid, tx] of waiting) if (isGone(tx)) waiting.delete(txid);
  }

  return {
    url: daemon.rpc,
    get height() {
      return height;
    },
    get hash() {
      return newest().hash;
    },
    get next() {
      return blocks[height + 1].tx.filter(({ vin }: LooseJson) => vin[0]?.coinbase === undefined);
    },
    put(tx) {
      const taken = new Set(spends(tx));
      dropWhere((other) => spends(other).some((coin) => taken.has(coin)));
      waiting.set(tx.txid, tx);
    },
    mine() {
      height += 1;
      const spent = new Set(blocks[height].tx.flatMap(spends));
      dropWhere((tx) => spends(tx).some((coin) => spent.has(coin)));
      dropWhere(({ expiryheight }) => Number(expiryheight) > 0 && Number(expiryheight) <= height);
    },
    stop: () => daemon.stop(),
  };
}

/** Another transaction that spends the same outputs. */
export function rivalOf(tx: LooseJson, txid: string, change: (copy: LooseJson) => void = () => {}): LooseJson {
  const copy: LooseJson = parseExact(stringifyExact(tx));
  copy.txid = txid;
  change(copy);
  return copy;
}
