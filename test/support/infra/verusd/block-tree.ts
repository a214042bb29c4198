/** A tree of synthetic blocks whose best tip a test can switch: the daemon's view in tests of the tailer. */
import { createHash } from 'node:crypto';

export interface TreeBlock {
  readonly hash: string;
  readonly height: number;
  readonly previousHash: string | null;
  readonly time: number;
  /** Text that makes the block longer. */
  readonly filler: string;
}

export interface BlockTree {
  readonly genesis: TreeBlock;
  tip(): TreeBlock;
  /** Block of the best chain; undefined above its tip. */
  at(height: number): TreeBlock | undefined;
  get(hash: string): TreeBlock | undefined;
  /** Adds a branch of blocks on `parent` without switching to it; returns its last block. */
  grow(parent: string, count: number, filler?: string): TreeBlock;
  setTip(hash: string): void;
  /** Adds blocks on the best tip and moves the tip to the last one. */
  extend(count: number, filler?: string): TreeBlock;
  /** Replaces the newest `depth` blocks with `length` others. */
  reorganise(depth: number, length: number): TreeBlock;
}

const GENESIS_TIME = 1_700_000_000;

/** Two trees with the same name have the same genesis block; other trees differ. */
export function createBlockTree(name = 'tree'): BlockTree {
  const blocks = new Map<string, TreeBlock>();
  let made = 0;
  const genesis = add(null, 0, '');
  let best: TreeBlock[] = [genesis];

  function add(parent: TreeBlock | null, serial: number, filler: string): TreeBlock {
    const previousHash = parent?.hash ?? null;
    const hash = createHash('sha256').update(`${name}/${previousHash}/${serial}`).digest('hex');
    const height = parent ? parent.height + 1 : 0;
    const block = { hash, height, previousHash, time: GENESIS_TIME + height * 60, filler };
    blocks.set(hash, block);
    return block;
  }

  function known(hash: string): TreeBlock {
    const block = blocks.get(hash);
    if (!block) throw new RangeError(`no block ${hash} in this tree`);
    return block;
  }

  function tip(): TreeBlock {
    return best.at(-1) ?? genesis;
  }

  function grow(parent: string, count: number, filler = ''): TreeBlock {
    let block = known(parent);
    for (let i = 0; i < count; i += 1) {
      made += 1;
      block = add(block, made, filler);
    }
    return block;
  }

  function setTip(hash: string): void {
    const line: TreeBlock[] = [];
    let block: TreeBlock | undefined = known(hash);
    while (block && best[block.height] !== block) {
      line.push(block);
      block = block.previousHash === null ? undefined : blocks.get(block.previousHash);
    }
    best = [...best.slice(0, block ? block.height + 1 : 0), ...line.reverse()];
  }

  return {
    genesis,
    tip,
    at: (height) => best[height],
    get: (hash) => blocks.get(hash),
    grow,
    setTip,
    extend(count, filler) {
      setTip(grow(tip().hash, count, filler).hash);
      return tip();
    },
    reorganise(depth, length) {
      const fork = best[tip().height - depth];
      if (!fork) throw new RangeError(`cannot replace ${depth} blocks of ${best.length}`);
      setTip(grow(fork.hash, length).hash);
      return tip();
    },
  };
}
