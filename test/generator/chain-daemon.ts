/** A daemon that serves a made-up chain, which grows and changes branches on request. */
import { elementTexts, rawMember } from '../../domain/json/raw-json.ts';
import { sentIn } from '../../recordings/player/waiting-transactions.ts';
import { type ScriptedDaemonOptions, startScriptedDaemon } from '../support/infra/verusd/scripted-daemon.ts';
import { createChain, type GeneratedBlock, type GeneratedChainOptions } from './chain.ts';

export interface ChainDaemon {
  /** With user and password. */
  readonly url: string;
  /** Height of its newest block. */
  readonly height: number;
  readonly hash: string;
  /** Hash of a block of the best chain. */
  hashAt(height: number): string | undefined;
  /** Ids of the waiting transactions. */
  waiting(): readonly string[];
  /** Loses all waiting transactions, like a restarted daemon; the next block still contains them. */
  forget(): void;
  grow(blocks: number): void;
  /** Abandons the newest `depth` blocks and grows another branch, in one step for clients. */
  reorganise(depth: number, blocks: number): void;
  stop(): Promise<void>;
}

export interface ChainDaemonOptions extends GeneratedChainOptions {
  /** Whether users' transactions of the next block wait in the mempool until it is mined. */
  readonly mempool?: boolean;
  readonly methods?: ScriptedDaemonOptions['methods'];
}

/** Number of blocks of abandoned branches that can still be queried. */
const KEPT_ABANDONED = 1_000;

/** Starts the daemon with its first `blocks` blocks, at least one. */
export async function startChainDaemon(
  { methods, mempool = false, ...options }: ChainDaemonOptions,
  blocks = 1,
): Promise<ChainDaemon> {
  const chain = createChain({ ...options, rewinds: true });
  const best: GeneratedBlock[] = [];
  const abandoned = new Map<string, GeneratedBlock>();
  const heights = new Map<string, number>();
  /** The block that is made but not mined yet. */
  let next: GeneratedBlock | null = null;
  let waiting: ReadonlyMap<string, string> = new Map();
  const prepare = () => {
    next = mempool ? chain.next() : null;
    waiting = next ? sentTexts(next.text) : new Map();
  };
  const grow = (count: number) => {
    for (let made = 0; made < count; made += 1) {
      const block = next ?? chain.next();
      best.push(block);
      heights.set(block.hash, block.height);
      prepare();
    }
  };
  grow(Math.max(1, blocks));
  const tip = () => best.at(-1) as GeneratedBlock;
  const daemon = await startScriptedDaemon({
    chain: {
      tip,
      at: (height) => best[height],
      waiting: () => waiting,
      textOf: (hash) => (abandoned.get(hash) ?? best[heights.get(hash) ?? -1])?.text,
    },
    ...(methods && { methods }),
  });
  return {
    url: daemon.rpc,
    get height() {
      return tip().height;
    },
    get hash() {
      return tip().hash;
    },
    hashAt: (height) => best[height]?.hash,
    waiting: () => [...waiting.keys()],
    forget() {
      waiting = new Map();
    },
    grow,
    reorganise(depth, count) {
      next = null;
      chain.rewind(tip().height - depth);
      for (const block of best.splice(best.length - depth)) {
        abandoned.set(block.hash, block);
        heights.delete(block.hash);
      }
      for (const hash of abandoned.keys()) {
        if (abandoned.size <= KEPT_ABANDONED) break;
        abandoned.delete(hash);
      }
      prepare();
      grow(count);
    },
    stop: () => daemon.stop(),
  };
}

function sentTexts(block: string): Map<string, string> {
  const sent = new Set(sentIn(block));
  const tx = rawMember(block, 'tx') ?? '[]';
  const texts = elementTexts(tx);
  return new Map(
    texts
      .map((text) => [JSON.parse(rawMember(text, 'txid') ?? '""') as string, text] as const)
      .filter(([txid]) => sent.has(txid)),
  );
}
