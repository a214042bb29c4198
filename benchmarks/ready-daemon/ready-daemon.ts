/** Starts and controls the daemon of daemon.ts. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ReadyDaemonOptions {
  readonly names: readonly string[];
  /** Number of blocks of each chain. */
  readonly blocks: number;
  /** Initial height of each chain. */
  readonly shown: number;
  /** Maximum number per block. */
  readonly transactions: number;
  readonly mix: 'everything' | 'payments';
  /** CPU time per getblock, in microseconds. */
  readonly spendMicros: number;
}

export interface ReadyChain {
  readonly name: string;
  readonly rpc: string;
  readonly zmq: string;
}

/** A block, and the time when it was shown and published, by the machine's monotonic clock. */
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
  /** Calls by method since the start. */
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
