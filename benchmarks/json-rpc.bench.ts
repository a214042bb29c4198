/**
 * JSON-RPC through the service, against the same calls to the recorded daemon directly, and next to a pass-through proxy in node:http; and a
 * repeated read from memory, against the same read through the proxy. Every part runs in its own process. The rate of cached reads is also
 * measured with wrk, where it is installed: a client in Node.js costs as much as the service that it measures.
 * node benchmarks/json-rpc.bench.ts [seconds per measurement = 3] [rounds = 3] [concurrent calls = 16]
 */
import { loadavg } from 'node:os';
import { type Child, startChild } from './child.ts';
import { openConnection, type RawConnection, type RpcTarget } from './json-rpc/raw-client.ts';
import { median } from './verdict.ts';
import { hasWrk, loadByPost } from './wrk.ts';

const seconds = Number(process.argv[2] ?? 3);
const rounds = Number(process.argv[3] ?? 3);
const atOnce = Number(process.argv[4] ?? 16);

const children: Child<string>[] = [];

async function start(name: string, ...args: string[]): Promise<string> {
  const child = await startChild<string>(`json-rpc/${name}`, ...args);
  children.push(child);
  return child.report;
}

interface Side extends RpcTarget {
  readonly name: string;
}

const side = (name: string, url: string, path = '/'): Side => ({ name, url, path });

interface Measured {
  /** Milliseconds per call. */
  readonly p50: number;
  readonly perSecond: number;
}

async function measure(connections: readonly RawConnection[]): Promise<Measured> {
  const began = performance.now();
  const end = began + seconds * 1000;
  const times = (await Promise.all(connections.map((connection) => connection.repeat(end)))).flat();
  const perSecond = (times.length * 1000) / (performance.now() - began);
  return { p50: median(times), perSecond };
}

/** The sides alternate within each round, so that other load on the machine affects all of them. */
async function compare(sides: readonly Side[], body: string, workers: number): Promise<Measured[]> {
  const answers = new Set<string>();
  const measured: Measured[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of sides.entries()) {
      // Opened for this turn only: servers close connections that are idle while the other sides have their turn.
      const opened = await Promise.all(Array.from({ length: workers }, () => openConnection(one, body)));
      for (const connection of opened) answers.add(await connection.ask());
      if (answers.size !== 1) throw new Error(`the sides answer differently: ${[...answers].join('').slice(0, 500)}`);
      measured[index]?.push(await measure(opened));
      for (const connection of opened) connection.close();
    }
  }
  return measured.map((runs) => ({
    p50: median(runs.map(({ p50 }) => p50)),
    perSecond: median(runs.map(({ perSecond }) => perSecond)),
  }));
}

function table(title: string, sides: readonly Side[], measured: readonly Measured[]): void {
  const [base] = measured;
  console.log(`\n${title}`);
  console.log(`${''.padEnd(14)}p50 ms   added ms   calls/s   of ${sides[0]?.name}`);
  for (const [index, { p50, perSecond }] of measured.entries()) {
    const added = p50 - (base?.p50 ?? 0);
    const share = perSecond / (base?.perSecond ?? 1);
    const cells = [p50.toFixed(3).padStart(6), added.toFixed(3).padStart(10), perSecond.toFixed(0).padStart(9)];
    console.log(`${(sides[index]?.name ?? '').padEnd(14)}${cells.join(' ')}   ${share.toFixed(2)} x`);
  }
}

/** Compares the calls per second of each side. */
async function compareByWrk(sides: readonly Side[], body: string): Promise<void> {
  const measured: number[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { url, path }] of sides.entries()) {
      measured[index]?.push(await loadByPost(new URL(path, url).href, body, seconds));
    }
  }
  const rates = measured.map(median);
  console.log('\nthe same by wrk');
  for (const [index, rate] of rates.entries()) {
    const share = (rate / (rates[0] ?? 1)).toFixed(2);
    console.log(`${(sides[index]?.name ?? '').padEnd(14)}${rate.toFixed(0).padStart(27)}   ${share} x`);
  }
}

try {
  const daemonUrl = await start('daemon');
  const serviceUrl = await start('service', daemonUrl);
  const daemon = side('daemon', daemonUrl);
  const passThrough = side('pass-through', await start('pass-through', daemonUrl));
  const proxied = side('service', serviceUrl, '/rpc/proxied');
  const kept = side('service, kept', serviceUrl, '/rpc/kept');
  const small = '{"id":"x","method":"getinfo","params":[]}';
  const read = '{"id":"x","method":"getcurrencystate","params":["PureTri", "300,320"]}';
  const sides = [daemon, passThrough, proxied];

  console.log(`load average ${loadavg()[0]?.toFixed(1)}, baseline: the recorded daemon, asked directly`);
  table('getinfo, one at a time', sides, await compare(sides, small, 1));
  table(`getinfo, ${atOnce} at a time`, sides, await compare(sides, small, atOnce));
  table(`getcurrencystate of 21 heights, ${atOnce} at a time`, sides, await compare(sides, read, atOnce));
  const repeated = [{ ...proxied, name: 'proxied' }, kept];
  table(`the same, kept against proxied, ${atOnce} at a time`, repeated, await compare(repeated, read, atOnce));
  if (hasWrk()) await compareByWrk(repeated, read);
  else console.log('\nnot measured by wrk, which is not installed');
} finally {
  for (const child of children) child.kill();
}
