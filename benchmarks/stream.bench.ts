/**
 * The push stream of the whole service: the time of a block from the daemon's notification to the clients, hop by hop, next to a program that
 * only fetches and sends it; the time that a client with 10,000 missed events needs; and the time from the log alone, as earlier versions
 * measured it.
 * node benchmarks/stream.bench.ts [missed events = 10000] [clients = 100] [blocks = 200]
 */
import { measureLatency } from './stream/latency.ts';
import { measureResume } from './stream/resume.ts';

const [missed = 10_000, clients = 100, blocks = 200] = process.argv.slice(2).map(Number);
const FOUR = ['vrsc', 'varrr', 'vdex', 'chips'];

const cases = [
  {
    title: 'one chain',
    chains: ['vrsc'],
    usesZmq: true,
    blocks: blocks / 4,
    blocksASecond: 2,
    most: { p50: 60, p99: 250 },
  },
  { title: 'four chains', chains: FOUR, usesZmq: true, blocks, blocksASecond: 10, most: { p50: 150, p99: 600 } },
  {
    title: 'one chain without ZMQ',
    chains: ['vrsc'],
    usesZmq: false,
    blocks: blocks / 4,
    blocksASecond: 1,
    most: { p50: 250, p99: null },
  },
];
for (const each of cases) if (!(await measureLatency({ ...each, clients }))) process.exitCode = 1;
if (missed > 0) await measureResume({ missed, clients, blocks });
