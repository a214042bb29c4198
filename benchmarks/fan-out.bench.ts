/**
 * The push stream to many clients: against uWebSockets.js' own publish of the same bytes, and the effect of stalled readers on the other
 * readers. The clients run in their own process.
 * node benchmarks/fan-out.bench.ts [clients = 2000] [rounds = 5] [seconds with stalled readers = 25]
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Crowd, startCrowd } from './fan-out/crowd.ts';
import { barePublish, type FanOut, pushStream } from './fan-out/servers.ts';
import { median } from './verdict.ts';

const [clients = 2_000, rounds = 5, seconds = 25] = process.argv.slice(2).map(Number);
const RECORDS = 40;
/** Events per record: a quiet block, and a busy one. */
const EVENTS = [1, 25];

const STALLED = 50;
const READERS = 500;
const RECORDS_A_SECOND = 20;
const EVENTS_OF_STALLED = 5;
/** Bytes per event, enough to fill both kernel buffers of a socket within the run. */
const PADDING = 4_000;

interface Measured {
  readonly perSecond: number;
  /** Microseconds of this process's CPU per message. */
  readonly cpu: number;
}

/** Messages delivered per second, record by record: the next record is published when all clients have received the previous one. */
async function measure(server: FanOut, crowd: Crowd, events: number, had: number): Promise<Measured> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (let sent = 1; sent <= RECORDS; sent += 1) {
    server.publish(events);
    await crowd.got(had + sent * events);
  }
  const { user, system } = process.cpuUsage(cpu);
  const messages = RECORDS * events * clients;
  return { perSecond: (messages * 1000) / (performance.now() - began), cpu: (user + system) / messages };
}

async function fanOut(): Promise<void> {
  const sides = {
    bare: { server: await barePublish(), crowd: startCrowd() },
    push: { server: await pushStream(), crowd: startCrowd() },
  };
  const had = { bare: 0, push: 0 };
  console.log(`load average ${loadavg()[0]?.toFixed(1)}, ${clients} clients, baseline: app.publish of the same bytes`);
  for (const [name, { server, crowd }] of Object.entries(sides)) {
    await crowd.open(server.port, clients);
    had[name as 'bare'] = server.greeting;
    await crowd.got(server.greeting);
  }
  for (const events of EVENTS) {
    const runs: Record<'bare' | 'push', Measured[]> = { bare: [], push: [] };
    // Alternating by round, so that other load on the machine affects both alike; the first round warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const name of ['bare', 'push'] as const) {
        const measured = await measure(sides[name].server, sides[name].crowd, events, had[name]);
        had[name] += RECORDS * events;
        if (round > 0) runs[name].push(measured);
      }
    }
    const of = (name: 'bare' | 'push', what: keyof Measured) => median(runs[name].map((run) => run[what]));
    for (const name of ['bare', 'push'] as const) {
      const rate = of(name, 'perSecond') / of('bare', 'perSecond');
      console.log(
        `${String(events).padStart(3)} events a record   ${name}${of(name, 'perSecond').toFixed(0).padStart(9)} messages/s   ${rate.toFixed(2)} × bare` +
          `${of(name, 'cpu').toFixed(2).padStart(8)} µs CPU a message`,
      );
    }
  }
  for (const { server, crowd } of Object.values(sides)) {
    await crowd.close();
    crowd.end();
    server.close();
  }
}

/** Latency of the readers, and memory, while some clients are stalled. */
async function withStalled(
  stalled: number,
): Promise<{ p50: number; p99: number; grownMb: number; bufferedMb: number; closed: number }> {
  const server = await pushStream();
  const crowd = startCrowd();
  await crowd.open(server.port, READERS);
  await crowd.stall(stalled);
  const memory = process.memoryUsage().rss;
  let grown = 0;
  let buffered = 0;
  for (let sent = 0; sent < seconds * RECORDS_A_SECOND; sent += 1) {
    server.publish(EVENTS_OF_STALLED, PADDING);
    buffered = Math.max(buffered, server.buffered());
    grown = Math.max(grown, process.memoryUsage.rss() - memory);
    await sleep(1000 / RECORDS_A_SECOND);
  }
  await crowd.got(server.greeting + seconds * RECORDS_A_SECOND * EVENTS_OF_STALLED);
  const { p50, p99 } = await crowd.latencies();
  const closed = READERS - server.clients();
  await crowd.close();
  crowd.end();
  server.close();
  return { p50, p99, grownMb: grown / 2 ** 20, bufferedMb: buffered / 2 ** 20, closed };
}

async function stalledReaders(): Promise<void> {
  const [without, with_] = [await withStalled(0), await withStalled(STALLED)];
  console.log(
    `\n${READERS} clients, ${RECORDS_A_SECOND} records of ${EVENTS_OF_STALLED} events of ${PADDING / 1000} kB a second, baseline: nobody stalls`,
  );
  for (const [name, run] of [
    ['all read', without],
    [`${STALLED} stall`, with_],
  ] as const) {
    console.log(
      `${name.padEnd(12)}p50 ${run.p50.toFixed(1)} ms   p99 ${run.p99.toFixed(1)} ms   ${(run.p99 / without.p99).toFixed(2)} × p99   ` +
        `memory +${run.grownMb.toFixed(0)} MB   at most ${run.bufferedMb.toFixed(1)} MB not taken by sockets   ${run.closed} closed as too slow`,
    );
  }
}

await fanOut();
await stalledReaders();
