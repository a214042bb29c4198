/** Runs the real program in child processes. They end with the test, however it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../house/source-files.ts';
import { afterEachFile, afterEachTest } from '../setup/after-tests.ts';
import { NODE_FLAGS } from '../support/infra/node-flags.ts';

/** Environment variables for the program; those of the test are not inherited. */
export type ProgramSettings = Readonly<Record<string, string>>;

export interface EndedProgram {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout and stderr, in order of arrival. */
  readonly output: string;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [member: string]: unknown;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Program {
  /** http://host:port; only after `answers`. */
  readonly base: string;
  readonly pid: number | undefined;
  readonly ended: Promise<EndedProgram>;
  output(): string;
  /**
   * Lines of level `warn` and above, except those about the recorded daemon's wallet, which has coins, and about stores that answered a
   * probe too slowly.
   */
  complaints(): LogLine[];
  /** Resolves when /api/health answers. @throws Error with the output when the program ends first */
  answers(): Promise<Program>;
  get(path: string): Promise<HttpAnswer>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<EndedProgram>;
}

const WARN = 40;
/** Slightly less than a test's time limit, so that the error names the missing condition. */
const ANSWER_MS = 150_000;
const POLL_MS = 100;
const LONGEST_POLL_MS = 1_000;
const SURROUNDINGS = Object.fromEntries(
  ['PATH', 'HOME', 'NODE_COMPILE_CACHE'].map((name) => [name, process.env[name]]),
);
const running = new Set<ChildProcess>();
/** Programs that the tests of a file share. */
const shared = new Set<ChildProcess>();

process.once('exit', () => killAll(running));
afterEachTest(() => killAll([...running].filter((child) => !shared.has(child))));
afterEachFile(() => killAll(running));

async function killAll(children: Iterable<ChildProcess>): Promise<void> {
  const killed = [...children];
  for (const child of killed) child.kill('SIGKILL');
  while (killed.some((child) => running.has(child))) await sleep(POLL_MS);
}

interface ProgramOptions {
  /** `file`: all tests of the file share the program. */
  readonly lives?: 'test' | 'file';
  readonly args?: readonly string[];
}

/** Runs `verustream start` on any free port until the test ends. */
export function startProgram(
  settings: ProgramSettings,
  { lives = 'test', args = ['start'] }: ProgramOptions = {},
): Program {
  const { child, output, ended } = spawnProgram(join(ROOT, 'verustream.ts'), args, { PORT: '0', ...settings });
  let base = '';
  if (lives === 'file') shared.add(child);

  const program: Program = {
    get base() {
      return base;
    },
    pid: child.pid,
    ended,
    output,
    complaints: () =>
      logLines(output()).filter((line) => line.level >= WARN && !/\bwallet\b/.test(line.msg) && !isSlowProbe(line)),
    async answers() {
      await until(
        'the API answers',
        async () => {
          if (!running.has(child)) throw new Error(`the program ended before it answered:\n${(await ended).output}`);
          base = /index of the API +(http:\/\/[^/]+)\/api\//.exec(output())?.[1] ?? '';
          return base !== '' && (await program.get('/api/health')).status === 200;
        },
        ANSWER_MS,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${output()}`);
      });
      return program;
    },
    async get(path) {
      const response = await fetch(base + path);
      return { status: response.status, body: await response.text() };
    },
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
  return program;
}

/** Runs any other command, or another script of the project, to its end. */
export async function runCommand(
  args: readonly string[],
  settings: ProgramSettings,
  script = 'verustream.ts',
): Promise<EndedProgram> {
  return spawnProgram(join(ROOT, script), args, settings).ended;
}

function spawnProgram(script: string, args: readonly string[], settings: ProgramSettings) {
  const child = spawn(process.execPath, [...NODE_FLAGS, script, ...args], {
    cwd: ROOT,
    env: { ...SURROUNDINGS, ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the IPC channel ends the program when the test is killed
  });
  running.add(child);
  let text = '';
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    text += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    text += chunk;
  });
  const ended = new Promise<EndedProgram>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, stdout, stderr, output: text });
    });
  });
  return { child, ended, output: () => text };
}

function logLines(output: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"level"'))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as LogLine];
      } catch {
        return []; // truncated by a kill
      }
    });
}

/** Messages of api/state/store-health.ts for a store that did not answer a probe, and errors that may only mean slowness. */
const SILENT_STORE =
  /^(Postgres does not answer|all Postgres connections for requests are busy or do not answer|ClickHouse does not answer in time|ClickHouse lacks disk space, memory or time|a store has failed;.*)$/;
const SLOW =
  /no answer to a statement within|no connection within|did not answer a statement within|timeout exceeded|statement timeout/i;

/**
 * On a busy machine a healthy store may need more than the two seconds of a probe; the warning is correct and not a fault of the program.
 */
function isSlowProbe({ msg, err }: LogLine): boolean {
  return SILENT_STORE.test(msg) && SLOW.test(JSON.stringify(err ?? ''));
}

/**
 * Polls until `holds` returns true, less often the longer it takes, because polling takes CPU time from the program.
 * @throws Error after `ms`, or any error of `holds`
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = ANSWER_MS): Promise<void> {
  const began = Date.now();
  while (!(await holds())) {
    const waited = Date.now() - began;
    if (waited > ms) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await sleep(Math.min(LONGEST_POLL_MS, Math.max(POLL_MS, waited / 8)));
  }
}

/**
 * Polls `status`, because a stage reports its state a moment after its block is served. @throws Error like `until`, with the printed table
 */
export async function untilStatus(settings: ProgramSettings, code: number, pattern = /^/): Promise<void> {
  let last: EndedProgram | undefined;
  await until(`status ends with ${code} and says ${pattern}`, async () => {
    last = await runCommand(['status'], settings);
    return last.code === code && pattern.test(last.output);
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${last?.output}`);
  });
}
