/** Daemons of one generated chain that grows, reorganises and misbehaves on demand. */

import { createChain, type GeneratedBlock } from '../generator/chain.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { type DaemonFault, type ScriptedDaemon, startScriptedDaemon } from '../support/infra/verusd/scripted-daemon.ts';

export interface FaultyChain {
  readonly daemons: readonly ScriptedDaemon[];
  readonly height: number;
  /** Members that replace those of `getinfo`. */
  readonly info: Record<string, unknown>;
  readonly wallet: { balance: number };
  /** Prints the following blocks; null prints them unchanged. */
  reprint: ((block: GeneratedBlock) => string) | null;
  grow(blocks: number): void;
  reorganise(depth: number): void;
  /** Applies a fault to calls of these methods, or to every call; null ends it. */
  misbehave(fault: DaemonFault | null, ...methods: string[]): void;
  stop(): Promise<void>;
}

export interface FaultyChainOptions {
  readonly seed: number;
  readonly blocks: number;
  readonly daemons?: number;
}

export async function startFaultyChain(options: FaultyChainOptions): Promise<FaultyChain> {
  const { seed, blocks, daemons: count = 1 } = options;
  const chain = createChain({ seed, addresses: 30, transactions: 5, mix: EVERYTHING, rewinds: true });
  const best: GeneratedBlock[] = [];
  const grow = (more: number) => {
    for (let made = 0; made < more; made += 1) {
      const block = chain.next();
      best.push(faulty.reprint ? { ...block, text: faulty.reprint(block) } : block);
    }
  };
  const tip = () => best.at(-1) as GeneratedBlock;
  const info: Record<string, unknown> = {};
  const wallet = { balance: 0 };
  const served = {
    tip,
    at: (height: number) => best[height],
    textOf: (hash: string) => best.find((one) => one.hash === hash)?.text,
  };
  const methods = {
    getinfo: () => {
      const { height } = tip();
      const said = { name: 'VRSCTEST', chainid: 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq', connections: 8 };
      return { ...said, blocks: height, longestchain: height, ...info };
    },
    getwalletinfo: () => ({ walletversion: 60000, ...wallet }),
    z_listaddresses: () => [],
    getdifficulty: () => 1,
  };
  const daemons: ScriptedDaemon[] = [];
  for (let started = 0; started < count; started += 1) {
    daemons.push(await startScriptedDaemon({ chain: served, methods }));
  }
  const faulty: FaultyChain = {
    daemons,
    get height() {
      return tip().height;
    },
    info,
    wallet,
    reprint: null,
    grow,
    reorganise(depth) {
      chain.rewind(tip().height - depth);
      best.splice(best.length - depth);
      grow(depth + 1);
    },
    misbehave(fault, ...of) {
      for (const daemon of daemons)
        daemon.fault = ({ method }) => (of.length === 0 || of.includes(method) ? fault : null);
    },
    async stop() {
      for (const daemon of daemons) await daemon.stop();
    },
  };
  grow(blocks);
  return faulty;
}
