/**
 * Runs benchmarks, each in its own process. Every benchmark measures the project against a baseline in the same run and prints the ratio,
 * because absolute figures mean little on a shared machine.
 *
 *   npm run bench [-- name [arguments]]
 *   npm run bench -- --record [name[:argument…] …]                 the same, saved in RESULTS.md; all of them take about half an hour
 *   npm run bench -- --compare <checkout> name[:argument…] …       alternates with another checkout, and prints the ratio of each figure
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareRuns } from './figures.ts';
import { type Circumstances, circumstances, type Recorded, withResults } from './results.ts';
import { hasWrk } from './wrk.ts';

const SUFFIX = '.bench.ts';
const PAIRS = 5;
const root = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = join(root, 'benchmarks/RESULTS.md');
const names = readdirSync(join(root, 'benchmarks'))
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the benchmark with the checkout's own launcher, which installs its dependencies first. */
async function runIn(checkout: string, name: string, args: readonly string[], isShown: boolean): Promise<Ran> {
  const script = `benchmarks/${name}${SUFFIX}`;
  const child = spawn(process.execPath, ['infra/launch/run.mjs', script, ...args], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (isShown) process.stdout.write(text);
  });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, output };
}

function known(name: string): string {
  if (names.includes(name)) return name;
  console.error(`no benchmark ${name}; there are ${names.join(', ')}`);
  process.exit(2);
}

const parsed = (given: string) => {
  const [name = '', ...args] = given.split(':');
  return { name: known(name), args };
};

async function plain(wanted: string | undefined, args: readonly string[]): Promise<void> {
  for (const name of wanted === undefined ? names : [known(wanted)]) {
    console.log(`\n${name}`);
    if ((await runIn(root, name, args, true)).code !== 0) process.exitCode = 1;
  }
}

/** Saves each benchmark as soon as it ends, so that an interruption loses only the running one. */
async function record(wanted: readonly string[]): Promise<void> {
  if (!hasWrk()) {
    console.error('bench --record: wrk is not installed (Debian: apt-get install wrk), and several benchmarks need it');
    process.exit(2);
  }
  const conditions = circumstances(root);
  for (const { name, args } of (wanted.length > 0 ? wanted : names).map(parsed)) {
    console.log(`\n${name}`);
    const began = performance.now();
    const { code, output } = await runIn(root, name, args, true);
    if (code === 0) keep({ name, output }, conditions);
    else process.exitCode = 1; // a failed run is not recorded
    console.log(
      `${code === 0 ? 'recorded' : 'NOT RECORDED'} after ${((performance.now() - began) / 60_000).toFixed(1)} minutes`,
    );
  }
}

function keep(recorded: Recorded, conditions: Circumstances): void {
  const before = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : '';
  writeFileSync(RESULTS, withResults(before, [recorded], conditions));
}

async function compare(checkout: string | undefined, wanted: readonly string[]): Promise<void> {
  const other = resolve(checkout ?? '');
  if (!checkout || wanted.length === 0 || !existsSync(join(other, 'benchmarks'))) {
    console.error('bench --compare <checkout> name[:argument…] …: the folder of another checkout, and what to compare');
    process.exit(2);
  }
  for (const { name, args } of wanted.map(parsed)) {
    const [here, there]: [string[], string[]] = [[], []];
    for (let pair = 0; pair < PAIRS; pair++) {
      // The order alternates, so that both sides profit equally from warm caches.
      const turns = [
        { kept: here, folder: root },
        { kept: there, folder: other },
      ];
      for (const { kept, folder } of pair % 2 === 0 ? turns : turns.reverse()) {
        const { code, output } = await runIn(folder, name, args, false);
        if (code !== 0) console.error(`${name} in ${folder} ended with ${code}`);
        kept.push(output);
      }
      console.error(`${name}: pair ${pair + 1} of ${PAIRS}`);
    }
    console.log(`\n${name}: each figure of ${root} by that of ${other}, median of ${PAIRS} pairs (least to most)`);
    for (const { figure, median, least, most } of compareRuns(here, there)) {
      console.log(`${median.toFixed(3).padStart(8)}  (${least.toFixed(3)} to ${most.toFixed(3)})  ${figure}`);
    }
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--record') await record(rest);
else if (first === '--compare') await compare(rest[0], rest.slice(1));
else await plain(first, rest);
