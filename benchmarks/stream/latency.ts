/** The time of a block from the daemon's notification to all clients, hop by hop, next to the floor. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startChild } from '../child.ts';
import { percentile } from '../percentile.ts';
import { type Played, type ReadyDaemon, startReadyDaemon } from '../ready-daemon/ready-daemon.ts';
import { HOPS, startFollowing } from './following-service.ts';

export interface LatencyCase {
  readonly title: string;
  readonly chains: readonly string[];
  readonly usesZmq: boolean;
  /** Number of blocks, summed over all chains. */
  readonly blocks: number;
  readonly blocksASecond: number;
  readonly clients: number;
  /** Milliseconds that a release may take at most. */
  readonly most: { readonly p50: number; readonly p99: number | null };
}

interface Listeners {
  /** Arrival times of each block at the clients, by hash. */
  arrivals(): Promise<ReadonlyMap<string, readonly number[]>>;
  end(): void;
}

/** Number of blocks before the first played block. */
const HISTORY = 200;
const TRANSACTIONS = 12;
/** Number of blocks played before the measurement. */
const WARM_UP = 20;
const LAST_ARRIVALS_MS = 3_000;

async function listen(url: string, count: number): Promise<Listeners> {
  const child = fork(fileURLToPath(new URL('./listeners.ts', import.meta.url)), [url, String(count)]);
  await once(child, 'message');
  return {
    async arrivals() {
      child.send('arrivals');
      const [list] = (await once(child, 'message')) as [readonly (readonly [string, number])[]];
      const byHash = new Map<string, number[]>();
      for (const [hash, at] of list) byHash.set(hash, [...(byHash.get(hash) ?? []), at]);
      return byHash;
    },
    end: () => child.disconnect(),
  };
}

async function play(daemon: ReadyDaemon, { blocks, blocksASecond }: LatencyCase, listeners: Listeners) {
  await daemon.play({ count: WARM_UP, blocksASecond, isPoisson: true });
  const before = await daemon.calls();
  const began = performance.now();
  const played = await daemon.play({ count: blocks, blocksASecond, isPoisson: true });
  const seconds = (performance.now() - began) / 1000;
  await new Promise((resolve) => setTimeout(resolve, LAST_ARRIVALS_MS));
  const after = await daemon.calls();
  const arrivals = await listeners.arrivals();
  const calls = (method: string) => (after[method] ?? 0) - (before[method] ?? 0);
  return { played, arrivals, calls, seconds: seconds + LAST_ARRIVALS_MS / 1000, after, before };
}

function latencies(played: readonly Played[], arrivals: ReadonlyMap<string, readonly number[]>): number[] {
  return played.flatMap(({ hash, at }) => (arrivals.get(hash) ?? []).map((came) => came - at));
}

const figures = (values: readonly number[]) =>
  `${percentile(values, 0.5).toFixed(1)} / ${percentile(values, 0.99).toFixed(1)}`;

const daemonFor = ({ chains, blocks }: LatencyCase) =>
  startReadyDaemon({
    names: chains,
    blocks: HISTORY + WARM_UP + blocks + 2,
    shown: HISTORY,
    transactions: TRANSACTIONS,
    mix: 'everything',
    spendMicros: 0,
  });

/** Measures only the fetch on each notification and the sending to the clients. */
async function floor(latency: LatencyCase): Promise<number[]> {
  const daemon = await daemonFor(latency);
  const bare = await startChild<number>('stream/bare', JSON.stringify(daemon.chains));
  const listeners = await listen(`ws://127.0.0.1:${bare.report}/`, latency.clients);
  try {
    const { played, arrivals } = await play(daemon, latency, listeners);
    return latencies(played, arrivals);
  } finally {
    listeners.end();
    bare.kill();
    daemon.end();
  }
}

/** Returns whether the limits hold. */
export async function measureLatency(latency: LatencyCase): Promise<boolean> {
  const { title, chains, usesZmq, blocks, blocksASecond, clients, most } = latency;
  const bare = await floor(latency);
  const daemon = await daemonFor(latency);
  const service = await startFollowing(daemon.chains, usesZmq);
  try {
    await service.reaches(HISTORY);
    const listeners = await listen(`ws://127.0.0.1:${service.port}/api/ws`, clients);
    const { played, arrivals, calls, seconds } = await play(daemon, latency, listeners);
    listeners.end();
    const came = latencies(played, arrivals);
    console.log(
      `${title}: ${blocks} blocks at ${blocksASecond}/s (Poisson), ${clients} clients; ms after the notification, p50 / p99`,
    );
    for (const hop of HOPS) {
      const times = played.flatMap((block) => {
        const at = service.passed(hop, block);
        return at === undefined ? [] : [at - block.at];
      });
      if (times.length > 0)
        console.log(
          `  ${hop.padEnd(22)} ${figures(times)}${times.length < blocks ? ` (of ${times.length} blocks)` : ''}`,
        );
    }
    const [p50, p99] = [percentile(came, 0.5), percentile(came, 0.99)];
    console.log(`  ${'at the clients'.padEnd(22)} ${figures(came)} of ${came.length}`);
    console.log(
      `  ${'bare floor'.padEnd(22)} ${figures(bare)}: ${(p50 / percentile(bare, 0.5)).toFixed(1)} × at p50, ${(p99 / percentile(bare, 0.99)).toFixed(1)} × at p99`,
    );
    const polls = ['getbestblockhash', 'getinfo'].map(calls);
    const fetches = ['getblock', 'getblockhash', 'getblockchaininfo'].map(calls).reduce((sum, count) => sum + count, 0);
    const aSecond = polls.map((count) => (count / seconds / chains.length).toFixed(2));
    console.log(
      `  calls: polls ${aSecond[0]} and health ${aSecond[1]} a second and daemon; ${(fetches / blocks).toFixed(2)} a block beside them`,
    );
    const isWhole = came.length === blocks * clients;
    if (!isWhole) console.log(`  ${blocks * clients - came.length} arrivals are missing`);
    const holds = isWhole && p50 <= most.p50 && (most.p99 === null || p99 <= most.p99);
    console.log(`  allowed ${most.p50} / ${most.p99 ?? '–'}: ${holds ? 'holds' : 'DOES NOT HOLD'}`);
    return holds;
  } finally {
    await service.stop();
    daemon.end();
  }
}
