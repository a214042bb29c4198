/**
 * Somebody else: asks small things at an even pace from networks that attack nobody, and measures how long each answer takes from
 * the moment at which the question was due. A message asks for what was measured since the last one.
 */
import { setInterval as every } from 'node:timers';
import { Agent, request } from 'undici';

export interface Measured {
  readonly asked: number;
  /** In ms, of each answer, in order of size. */
  readonly latencies: readonly number[];
  /** What came instead of an answer of status 200, and how often. */
  readonly faults: Readonly<Record<string, number>>;
}

const EVERY_MS = 25;
const PATHS = ['/api/health', '/api/oracle/prices'];
/** So many that none meets its limit of requests a minute. */
const NETWORKS = 200;

const base = process.argv[2] ?? '';
const agents = Array.from(
  { length: NETWORKS },
  (_, index) => new Agent({ localAddress: `127.9.${index >> 7}.${(index & 127) + 1}` }),
);
let asked = 0;
let latencies: number[] = [];
let faults: Record<string, number> = {};

async function ask(dispatcher: Agent, path: string): Promise<void> {
  const due = performance.now();
  const outcome = await request(base + path, { dispatcher, headersTimeout: 30_000 }).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode === 200 ? null : `${path}: ${statusCode}`;
    },
    (error: Error) => `${path}: ${error.message}`,
  );
  if (outcome === null) latencies.push(performance.now() - due);
  else faults[outcome] = (faults[outcome] ?? 0) + 1;
}

let turn = 0;
const pace = every(() => {
  const agent = agents[turn % NETWORKS];
  const path = PATHS[turn % PATHS.length];
  turn++;
  asked++;
  if (agent && path) void ask(agent, path);
}, EVERY_MS);

process.on('message', () => {
  process.send?.({ asked, latencies: latencies.sort((a, b) => a - b), faults } satisfies Measured);
  asked = 0;
  latencies = [];
  faults = {};
});
process.once('disconnect', () => {
  clearInterval(pace);
  process.exit();
});
