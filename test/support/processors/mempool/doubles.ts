/** A daemon and an index in miniature: the daemon has blocks and a mempool, the index follows its blocks with a delay. */
import type { BlockRef } from '../../../../domain/block-ref.ts';
import { outpointKey, type SeenIndex } from '../../../../processors/mempool/mempool-state.ts';
import type { UnconfirmedTransaction } from '../../../../schemas/mempool.ts';

export interface ModelTransaction {
  readonly txid: string;
  /** Spent outpoints, `txid:n`. */
  readonly spends: readonly string[];
  /** 0 means that it never expires. */
  readonly expiryHeight: number;
}

export interface ModelBlock extends BlockRef {
  readonly transactions: readonly ModelTransaction[];
}

const OUTPUTS = 2;

export interface DaemonDouble {
  readonly blocks: readonly ModelBlock[];
  readonly mempool: ReadonlyMap<string, ModelTransaction>;
  /** Number of reorganisations so far. */
  readonly reorganisations: number;
  /** Adds a new transaction to the mempool; it spends the unspent outputs that `choose` selects. */
  arrive(choose: (outputs: readonly string[]) => readonly string[], expiresIn: number): void;
  /** Mines the first `count` transactions of the mempool, and with `rival` a foreign one that spends the outputs of a waiting one. */
  mine(count: number, rival: number | null): void;
  reorganise(depth: number, blocks: number, count: number): void;
  /** Empties the mempool. */
  restart(): void;
}

export function createDaemonDouble(): DaemonDouble {
  let made = 0;
  const name = () => (++made).toString(16).padStart(64, '0');
  const blocks: ModelBlock[] = [];
  let mempool = new Map<string, ModelTransaction>();
  let reorganisations = 0;

  const chainOutputs = () => {
    const unspent = new Set<string>();
    for (const { transactions } of blocks) {
      for (const { txid, spends } of transactions) {
        for (const key of spends) unspent.delete(key);
        for (let n = 0; n < OUTPUTS; n += 1) unspent.add(`${txid}:${n}`);
      }
    }
    return unspent;
  };

  /** Refills the mempool with those candidates, in order, that the chain allows. */
  function refill(candidates: Iterable<ModelTransaction>): void {
    const unspent = chainOutputs();
    const mined = new Set(blocks.flatMap(({ transactions }) => transactions.map(({ txid }) => txid)));
    mempool = new Map();
    for (const tx of candidates) {
      const isExpired = tx.expiryHeight > 0 && blocks.length > tx.expiryHeight;
      if (mined.has(tx.txid) || isExpired || !tx.spends.every((key) => unspent.has(key))) continue;
      for (const key of tx.spends) unspent.delete(key);
      for (let n = 0; n < OUTPUTS; n += 1) unspent.add(`${tx.txid}:${n}`);
      mempool.set(tx.txid, tx);
    }
  }

  function connect(transactions: readonly ModelTransaction[]): void {
    const coinbase = { txid: name(), spends: [], expiryHeight: 0 };
    blocks.push({ height: blocks.length, hash: name(), transactions: [coinbase, ...transactions] });
    refill([...mempool.values()]);
  }

  connect([]);
  const taken = (count: number) => [...mempool.values()].slice(0, count);
  return {
    blocks,
    get mempool() {
      return mempool;
    },
    get reorganisations() {
      return reorganisations;
    },
    arrive(choose, expiresIn) {
      const waiting = [...mempool.values()];
      const spent = new Set(waiting.flatMap(({ spends }) => spends));
      const outputs = [...chainOutputs(), ...waiting.flatMap(({ txid }) => [`${txid}:0`, `${txid}:1`])];
      const spends = choose(outputs.filter((key) => !spent.has(key)));
      const expiryHeight = expiresIn > 0 ? blocks.length - 1 + expiresIn : 0;
      if (spends.length > 0) refill([...waiting, { txid: name(), spends, expiryHeight }]);
    },
    mine(count, rival) {
      const transactions = taken(count);
      const own = new Set(transactions.flatMap(({ spends }) => spends));
      const made = new Set(transactions.map(({ txid }) => txid));
      const unspent = chainOutputs();
      const contested = [...mempool.values()].filter(
        ({ txid, spends }) => !made.has(txid) && spends.every((key) => unspent.has(key) && !own.has(key)),
      );
      const spends = rival === null ? undefined : contested[rival % Math.max(1, contested.length)]?.spends;
      connect([...transactions, ...(spends ? [{ txid: name(), spends, expiryHeight: 0 }] : [])]);
    },
    reorganise(depth, count, each) {
      const left = blocks.splice(Math.max(1, blocks.length - depth));
      reorganisations += 1;
      const back = left.flatMap(({ transactions }) => transactions.slice(1));
      refill([...back, ...mempool.values()]);
      for (let block = 0; block < count; block += 1) connect(taken(each));
    },
    restart() {
      mempool = new Map();
    },
  };
}

export interface IndexDouble {
  readonly blocks: readonly ModelBlock[];
  /** Moves one step towards the daemon's chain: appends its next block, or rewinds to the fork. */
  follow(daemon: DaemonDouble): void;
  see(asked: {
    readonly txids: readonly string[];
    readonly outpoints: readonly string[];
    readonly hashes: readonly string[];
  }): SeenIndex;
}

export function createIndexDouble(): IndexDouble {
  const blocks: ModelBlock[] = [];
  const ref = ({ height, hash }: ModelBlock): BlockRef => ({ height, hash });
  return {
    blocks,
    follow(daemon) {
      const parted = blocks.findIndex(({ hash }, height) => daemon.blocks[height]?.hash !== hash);
      const next = daemon.blocks[blocks.length];
      if (parted >= 0) blocks.splice(parted);
      else if (next) blocks.push(next);
    },
    see({ txids, outpoints, hashes }) {
      const tip = blocks.at(-1);
      const wanted = new Set(txids);
      const asked = new Set(outpoints);
      const mined = new Map<string, BlockRef>();
      const spenders = new Map<string, BlockRef & { readonly txid: string }>();
      for (const block of blocks) {
        for (const { txid, spends } of block.transactions) {
          if (wanted.has(txid)) mined.set(txid, ref(block));
          for (const key of spends) if (asked.has(key)) spenders.set(key, { txid, ...ref(block) });
        }
      }
      const reached = new Set(blocks.map(({ hash }) => hash).filter((hash) => hashes.includes(hash)));
      return { tip: tip ? ref(tip) : null, mined, spenders, reached };
    },
  };
}

export function unconfirmed({ txid, spends, expiryHeight }: ModelTransaction): UnconfirmedTransaction {
  const inputs = spends.map((key) => ({ txid: key.slice(0, 64), n: Number(key.slice(65)), spent: null }));
  const nothing = { outputs: [], activity: [], transfers: [], identities: [] };
  const kind = { kind: 'transfer', kinds: ['transfer'] } as const;
  return { txid, ...kind, fee: 1n, size: 100, lockTime: 0, expiryHeight, inputs, ...nothing, bytes: 1_000 };
}

export const keysOf = ({ inputs }: UnconfirmedTransaction): string[] => inputs.map(outpointKey);
