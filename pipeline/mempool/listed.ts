/** The daemon's list of what waits, kept for a while where reading it takes many looks. */
import { listMempool, type MempoolDaemon } from './daemon-mempool.ts';

export interface MempoolList {
  /** The daemon that gave it. */
  readonly address: string;
  readonly listed: ReadonlySet<string>;
}

/** Asking for lists takes at most a tenth of the time: one of 50,000 is 3 MB long. */
const REST = 9;

/**
 * `mayBeOlder`: there is more of the last list to read. An older list says nothing wrong, since the daemon's newest block and the index
 * are asked after it. @throws Daemon… errors
 */
export function createMempoolLists(
  daemon: MempoolDaemon,
  signal: AbortSignal,
): (mayBeOlder: boolean) => Promise<MempoolList> {
  let last: (MempoolList & { readonly freshUntil: number }) | null = null;
  return async (mayBeOlder) => {
    const began = performance.now();
    const { address } = daemon;
    if (mayBeOlder && last?.address === address && began < last.freshUntil) return last;
    const listed = await listMempool(daemon, signal);
    const now = performance.now();
    last = { address, listed, freshUntil: now + (now - began) * REST };
    return last;
  };
}
