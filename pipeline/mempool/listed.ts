/** The daemon's list of waiting transactions, reused for a while when reading all of them takes many polls. */
import { listMempool, type MempoolDaemon } from './daemon-mempool.ts';

export interface MempoolList {
  /** The daemon that returned the list. */
  readonly address: string;
  readonly listed: ReadonlySet<string>;
}

/** Reuse time, as a multiple of the request's time: requests for lists take at most a tenth of the time. A list of 50,000 ids has 3 MB. */
const REST = 9;

/**
 * `mayBeOlder` means that more of the last list is still to be read. An older list is safe, since the caller asks for the daemon's newest
 * block and the index after it. @throws Daemon… errors
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
