/** Starts the daemon of daemon.ts and gives it orders. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ReadyDaemonOptions {
  readonly names: readonly string[];
  /** Of each chain, in all. */
  readonly blocks: number;
  /** Height of each chain at first. */
  readonly shown: number;
  /** Most of a block. */
  readonly transactions: number;
  readonly mix: 'everything' | 'payments';
  /** CPU of a getblock. */
  readonly spendMicros: number;
}

export interface ReadyChain {
  readonly name: string;
  readonly rpc: string;
  readonly zmq: string;
}

/** A block that was shown and published `at`, by the machine's monotonic clock. */
export interface Played {
  readonly chain: string;
  readonly height: number;
  readonly hash: string;
  readonly at: number;
}

export type DaemonOrder =
  | { readonly do: 'play'; readonly count: number; readonly blocksASecond: number; readonly isPoisson: boolean }
  | { readonly do: 'calls' };

export interface ReadyDaemon {
  readonly chains: readonly ReadyChain[];
  play(order: Omit<Extract<DaemonOrder, { do: 'play' }>, 'do'>): Promise<readonly Played[]>;
  /** By method, since its start. */
  calls(): Promise<Readonly<Record<string, number>>>;
  end(): void;
}

export async function startReadyDaemon(options: ReadyDaemonOptions): Promise<ReadyDaemon> {
  const child = fork(fileURLToPath(new URL('./daemon.ts', import.meta.url)), [JSON.stringify(options)]);
  child.once('exit', (code) => {
    if (code) throw new Error(`the daemon ended with ${code}`);
  });
  const [chains] = (await once(child, 'message')) as [readonly ReadyChain[]];
  async function ask<T>(order: DaemonOrder): Promise<T> {
    child.send(order);
    const [answer] = (await once(child, 'message')) as [T];
    return answer;
  }
  return {
    chains,
    play: async (order) => (await ask<{ played: readonly Played[] }>({ do: 'play', ...order })).played,
    calls: async () => (await ask<{ calls: Readonly<Record<string, number>> }>({ do: 'calls' })).calls,
    end: () => child.disconnect(),
  };
}
