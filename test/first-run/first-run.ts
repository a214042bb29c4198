/**
 * Does for real what a new user does: clones into an empty folder with an empty home, runs `npm start`, sends requests, and watches the
 * reorganisation arrive. Run: node infra/launch/run.mjs test/first-run/first-run.ts
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { ROOT } from '../house/source-files.ts';

const INSTALL_MS = 300_000;
/** After the installation, each of the following steps must succeed within this time. */
const SERVE_MS = 60_000;
/** Timeout for a hang; long, because the machine is shared with other tests. */
const END_MS = 60_000;

interface Stamp {
  readonly scenario: string;
  readonly txid: string;
  readonly vout: number;
  readonly usdValue: string | null;
  readonly rule: string;
}

const recording = join(ROOT, 'recordings/private-network');
const folder = mkdtempSync(join(tmpdir(), 'verustream-first-run-'));
const home = join(folder, 'home');
const clone = join(folder, 'verustream');
mkdirSync(home);
execFileSync('git', ['clone', '--quiet', ROOT, clone]);

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|VERUS|KAFKA|CLICKHOUSE|DATABASE|DATA_DIR)/.test(name)),
);
const service = spawn('npm', ['start'], {
  cwd: clone,
  env: { ...environment, HOME: home, PORT: '0' },
  stdio: ['ignore', 'pipe', 'pipe'],
  detached: true,
});
let output = '';
for (const [stream, shown] of [
  [service.stdout, process.stdout],
  [service.stderr, process.stderr],
] as const) {
  stream.pipe(shown);
  stream.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
}
let base = '';
process.on('exit', () => {
  try {
    if (service.pid) process.kill(-service.pid, 'SIGKILL');
  } catch {}
  rmSync(folder, { recursive: true, force: true });
});

await until('the API answers', INSTALL_MS, async () => {
  base = /index of the API +(http:\/\/[^/]+)\/api\//.exec(output)?.[1] ?? '';
  return (await fetch(`${base}/api/health`)).ok;
});
const served = Date.now();
const stream = watch();
await until('a recorded identity equals the truth', SERVE_MS, identityHolds);
await until('a recorded conversion has the golden value', SERVE_MS, stampHolds);
await until(
  'the stream saw blocks and the reorganisation',
  SERVE_MS,
  async () => stream.blocks > 20 && stream.undone > 0,
);
console.log(`first run: served truth ${((Date.now() - served) / 1000).toFixed(1)} s after the first answer`);
console.log(`first run: the stream brought ${stream.blocks} blocks and ${stream.undone} undo`);

const asked = Date.now();
if (service.pid) process.kill(-service.pid, 'SIGTERM');
while (groupLives()) await sleep(50); // npm ends at once, but the program drains first
const seconds = (Date.now() - asked) / 1000;
if (seconds > END_MS / 1000) throw new Error(`SIGTERM took ${seconds} s`);
console.log(`first run: ended ${seconds.toFixed(1)} s after SIGTERM`);
process.exit(0);

function groupLives(): boolean {
  try {
    return service.pid !== undefined && process.kill(-service.pid, 0);
  } catch {
    return false;
  }
}

async function identityHolds(): Promise<boolean> {
  const truth = JSON.parse(gunzipSync(readFileSync(`${recording}/truth/identities.json.gz`)).toString()) as {
    id: string;
    history: { history: { height: number; identity: { flags: number; contentmultimap: unknown } }[] };
  }[];
  const [known] = truth;
  const state = known?.history.history[0];
  if (!known || !state) throw new Error('no identity in the recording');
  const response = await fetch(`${base}/api/identity/${known.id}?height=${state.height}`);
  if (!response.ok) return false;
  const answer = (await response.json()) as { flags: number; contentmultimap: unknown };
  return (
    answer.flags === state.identity.flags &&
    JSON.stringify(answer.contentmultimap) === JSON.stringify(state.identity.contentmultimap)
  );
}

async function stampHolds(): Promise<boolean> {
  const { stamps } = JSON.parse(readFileSync(`${recording}/golden/stamps-A.json`, 'utf8')) as { stamps: Stamp[] };
  const golden = stamps.filter((stamp) => stamp.scenario === 'live' && stamp.rule === 'to_side').at(0);
  if (!golden) throw new Error('no golden stamp');
  const response = await fetch(`${base}/api/oracle/conversions/${golden.txid}`);
  if (!response.ok) return false;
  const { data } = (await response.json()) as { data: { vout: number; rule: string; usdValue: number | null }[] };
  const row = data.find(({ vout }) => vout === golden.vout);
  const expected = Number(golden.usdValue);
  return row?.rule === golden.rule && row.usdValue !== null && Math.abs(row.usdValue - expected) <= 1e-9 * expected;
}

function watch(): { blocks: number; undone: number } {
  const seen = { blocks: 0, undone: 0 };
  const socket = new WebSocket(`${base.replace('http', 'ws')}/api/ws`);
  socket.onmessage = ({ data }) => {
    const { type } = JSON.parse(String(data)) as { type: string };
    if (type === 'block') seen.blocks++;
    if (type === 'undo') seen.undone++;
  };
  socket.onerror = () => {
    throw new Error('the WebSocket failed');
  };
  return seen;
}

async function until(what: string, ms: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + ms;
  for (;;) {
    if (service.exitCode !== null) throw new Error(`the service ended with ${service.exitCode} before: ${what}`);
    if (await holds().catch(() => false)) return;
    if (Date.now() > deadline) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await sleep(1000); // stays within the limits of a caller without a key
  }
}
