/**
 * A client that does not attack: sends small requests at an even pace from its own networks, and measures the latency of each answer from the
 * moment when its request was due. Each message from the parent requests the measurements since the previous one.
 */
import { setInterval as every } from 'node:timers';
import { Agent, request } from 'undici';

export interface Measured {
  readonly asked: number;
  /** Milliseconds of each answer, ascending. */
  readonly latencies: readonly number[];
  /** The longest in ms, without the time by which this process itself was late. */
  readonly longest: number;
  /** Outcomes other than an answer with status 200, with their counts. */
  readonly faults: Readonly<Record<string, number>>;
}

const EVERY_MS = 25;
const PATHS = ['/api/health', '/api/oracle/prices'];
/** Enough networks that none reaches its limit of requests a minute. */
const NETWORKS = 200;

const [, , base = ''] = process.argv;
const agents = Array.from(
  { length: NETWORKS },
  (_, index) => new Agent({ localAddress: `127.9.${index >> 7}.${(index & 127) + 1}` }),
);
let asked = 0;
let latencies: number[] = [];
let longest = 0;
/** Milliseconds by which this process has been late for its own turns so far. */
let late = 0;
let faults: Record<string, number> = {};

async function ask(dispatcher: Agent, path: string): Promise<void> {
  const due = performance.now();
  const lateBefore = late;
  const outcome = await request(base + path, { dispatcher, headersTimeout: 30_000 }).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode === 200 ? null : `${path}: ${statusCode}`;
    },
    (error: Error) => `${path}: ${error.message}`,
  );
  const latency = performance.now() - due;
  if (outcome === null) {
    latencies.push(latency);
    if (latency > longest) longest = Math.max(longest, latency - (late - lateBefore));
  } else faults[outcome] = (faults[outcome] ?? 0) + 1;
}

let turn = 0;
let turned = performance.now();
const pace = every(() => {
  const now = performance.now();
  // Less lateness is normal jitter of the timer.
  if (now - turned > 2 * EVERY_MS) late += now - turned - EVERY_MS;
  turned = now;
  const agent = agents[turn % NETWORKS];
  const path = PATHS[turn % PATHS.length];
  turn++;
  asked++;
  if (agent && path) void ask(agent, path);
}, EVERY_MS);

process.on('message', () => {
  process.send?.({ asked, latencies: latencies.sort((a, b) => a - b), longest, faults } satisfies Measured);
  asked = 0;
  latencies = [];
  longest = 0;
  faults = {};
});
process.once('disconnect', () => {
  clearInterval(pace);
  process.exit();
});
