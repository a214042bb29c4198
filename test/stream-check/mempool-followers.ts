/** Clients of channel `mempool`: each holds what it was sent, over broken connections, and notes whatever does not fit. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerMessage } from '../../client/stream/messages.ts';
import { openStream } from '../../client/stream/stream.ts';
import { sseMessages } from './sse-events.ts';

export interface MempoolFollower {
  readonly name: string;
  readonly faults: readonly string[];
  /** Txids of the waiting transactions of a chain. */
  held(chain: string): ReadonlySet<string>;
  readonly changes: number;
  readonly snapshots: number;
  /** Number of removed transactions by reason. */
  readonly gone: ReadonlyMap<string, number>;
  readonly done: Promise<void>;
}

export interface MempoolFollowerOptions {
  readonly baseUrl: string;
  readonly number: number;
  readonly way: 'websocket' | 'sse';
  readonly slow: boolean;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const RETRY_MS = [50, 1_000] as const;
const PAUSE_MS = 50;

export function followMempool(options: MempoolFollowerOptions): MempoolFollower {
  const { baseUrl, number, way, slow, random, signal } = options;
  const name = `${number} of the mempool by ${way}${slow ? ', slow' : ''}`;
  const faults: string[] = [];
  const gone = new Map<string, number>();
  const held = new Map<string, Set<string>>();
  /** Chains whose snapshot has been sent completely on this connection. */
  let whole = new Set<string>();
  let changes = 0;
  let snapshots = 0;

  function add(chain: string, txid: string): void {
    const transactions = held.get(chain) ?? new Set();
    if (transactions.has(txid)) faults.push(`double ${txid}`);
    held.set(chain, transactions.add(txid));
  }

  function hear(message: ServerMessage): void {
    if (message.type === 'mempool_snapshot') {
      const { chain, data } = message;
      if (data.first) held.set(chain, new Set());
      else if (whole.has(chain)) faults.push(`a later part of a snapshot of ${chain} that was whole`);
      if (data.more) whole.delete(chain);
      else whole.add(chain);
      if (data.first) snapshots += 1;
      for (const { txid } of data.transactions) add(chain, txid);
    } else if (message.type === 'mempool_tx' || message.type === 'mempool_gone') {
      const { chain, data } = message;
      changes += 1;
      if (!whole.has(chain)) faults.push(`${message.type} before the snapshot of ${chain}`);
      if (message.type === 'mempool_tx') add(chain, data.txid);
      else {
        if (!held.get(chain)?.delete(data.txid)) faults.push(`gone without having been sent: ${data.txid}`);
        gone.set(message.data.reason, (gone.get(message.data.reason) ?? 0) + 1);
      }
    }
  }

  async function overWebSocket(): Promise<void> {
    const onReconnect = () => {
      whole = new Set();
    };
    for await (const event of openStream({ baseUrl, channels: ['mempool'], signal, retryMs: RETRY_MS, onReconnect })) {
      hear(event);
      if (slow && random() < 0.05) await sleep(random() * PAUSE_MS);
    }
  }

  async function overSse(): Promise<void> {
    while (!signal.aborted) {
      whole = new Set();
      let seq = 0;
      for await (const message of sseMessages(`${baseUrl}/api/stream?channels=mempool`, null, signal)) {
        if (message.type !== 'hello' && message.seq !== ++seq) faults.push(`seq ${message.seq} after ${seq - 1}`);
        hear(message);
      }
      await sleep(RETRY_MS[0]);
    }
  }

  return {
    name,
    faults,
    gone,
    held: (chain) => held.get(chain) ?? new Set(),
    get changes() {
      return changes;
    },
    get snapshots() {
      return snapshots;
    },
    done: way === 'sse' ? overSse() : overWebSocket(),
  };
}
