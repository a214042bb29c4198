/** Decodes waiting transactions into facts, with the outputs that they spend from the index and the mempool. */
import type { Pool } from 'pg';
import { blockAround, deriveUnconfirmed } from '../../processors/mempool/derive-unconfirmed.ts';
import { outpointKey } from '../../processors/mempool/mempool-state.ts';
import type { ChainContext, MutableChainState } from '../../processors/state/chain-state.ts';
import { createMemoryState } from '../../processors/state/memory-state.ts';
import type { OutPoint } from '../../processors/state/referenced-keys.ts';
import type { CurrencyFact } from '../../schemas/facts.ts';
import type { UnconfirmedTransaction } from '../../schemas/mempool.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { requiredKeys } from '../derive/required-keys.ts';
import { createStoredState } from '../derive/stored-state.ts';

export interface DecodeOptions {
  readonly chain: ChainContext;
  readonly pool: Pool;
  /** Called for a transaction that the processors cannot read. */
  readonly onFault: (txid: string, error: unknown) => void;
}

export interface Decoded {
  /** Ordered: a transaction comes after those that it spends. */
  readonly transactions: readonly UnconfirmedTransaction[];
  readonly unreadable: readonly string[];
}

export type DecodeUnconfirmed = (
  read: ReadonlyMap<string, unknown>,
  waiting: ReadonlyMap<string, UnconfirmedTransaction>,
  height: number,
) => Promise<Decoded>;

export function createDecoder({ chain, pool, onFault }: DecodeOptions): DecodeUnconfirmed {
  const stored = createStoredState(pool, chain.name);

  /** Loads currencies only if there are identities, whose names depend on names of currencies. */
  async function currenciesFor(identities: number): Promise<readonly CurrencyFact[]> {
    return identities > 0 ? stored.currencies() : [];
  }

  return async (read, waiting, height) => {
    const time = Math.floor(Date.now() / 1000);
    const unreadable: string[] = [];
    const blocks = new Map<string, DaemonBlock>();
    for (const [txid, raw] of read) {
      const block = blockAround(raw, height, time);
      if (block?.tx[0]?.txid === txid) blocks.set(txid, block);
      else unreadable.push(txid);
    }
    const wanted = requiredKeys(
      Array.from(blocks.values(), (block) => ({ block })),
      chain.nativeCurrencyId,
    );
    const [outputs, identities, currencies] = await Promise.all([
      stored.outputs(wanted.outpoints.filter(({ txid }) => !waiting.has(txid))),
      stored.identities(wanted.identityAddresses),
      currenciesFor(wanted.identityAddresses.length),
    ]);
    const state = createMemoryState(chain);
    for (const fact of [...outputs, ...identities, ...currencies]) state.put(fact);

    const made = new Map<string, UnconfirmedTransaction>();
    for (const [txid, block] of parentsFirst(blocks)) {
      try {
        const parents = parentsOf(block, (id) => made.get(id) ?? waiting.get(id));
        made.set(txid, deriveUnconfirmed(block, withParents(state, parents, block)));
      } catch (error) {
        onFault(txid, error);
        unreadable.push(txid);
      }
    }
    return { transactions: [...made.values()], unreadable };
  };
}

/** Returns a view of the state in which the waiting transactions that this one spends have just been mined. */
function withParents(state: MutableChainState, parents: readonly UnconfirmedTransaction[], block: DaemonBlock) {
  const spent = new Set(outpointsOf(block).map(outpointKey));
  const own = state.overlay();
  for (const { txid, outputs, identities } of parents) {
    const replaced = identities.filter(({ vout: n }) => spent.has(outpointKey({ txid, n })));
    own.apply(block.height, [...outputs, ...replaced]);
  }
  return own;
}

function outpointsOf({ tx: [tx] }: DaemonBlock): OutPoint[] {
  return (tx?.vin ?? []).flatMap(({ txid, vout: n }) => (txid === undefined || n === undefined ? [] : [{ txid, n }]));
}

function parentsOf(
  block: DaemonBlock,
  find: (txid: string) => UnconfirmedTransaction | undefined,
): UnconfirmedTransaction[] {
  const txids = new Set(outpointsOf(block).map(({ txid }) => txid));
  return [...txids].flatMap((txid) => find(txid) ?? []);
}

/** Sorts transactions after those that they spend. Not recursive: a chain of transactions may be as long as the mempool. */
function parentsFirst(blocks: ReadonlyMap<string, DaemonBlock>): Map<string, DaemonBlock> {
  const ordered = new Map<string, DaemonBlock>();
  for (const first of blocks.keys()) {
    const path = [first];
    const open = new Set(path);
    for (let txid = path.at(-1); txid !== undefined; txid = path.at(-1)) {
      const block = blocks.get(txid);
      const before = block?.tx[0]?.vin.find(
        ({ txid: parent }) => parent !== undefined && blocks.has(parent) && !ordered.has(parent) && !open.has(parent),
      )?.txid;
      if (before !== undefined) {
        path.push(before);
        open.add(before);
      } else {
        path.pop();
        if (block) ordered.set(txid, block);
      }
    }
  }
  return ordered;
}
