/**
 * Builds the image without a container engine: runs the steps of the Dockerfile as plain commands in a clean folder, then its program as an
 * unprivileged user who may write only to /data. Run: node infra/launch/run.mjs test/deploy/image.ts
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ignore from '@balena/dockerignore';
import { type Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';
import { ROOT } from '../house/source-files.ts';
import { imageEnvironment, textOf } from './compose-file.ts';

const READY_MS = 120_000;
/** Timeout for a hang; long, because the machine is shared with other tests. */
const END_MS = 60_000;
const NOBODY = '65534';
/** Commands that a container engine runs as root of the image, which is not possible here. */
const OF_THE_ENGINE = ['install -d -o node -g node -m 700 /data /data/datasets'];

const folder = mkdtempSync(join(tmpdir(), 'verustream-image-'));
const context = join(folder, 'context');
chmodSync(folder, 0o755);

function makeContext(): void {
  const patterns = ignore.default().add(textOf('.dockerignore'));
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const path of patterns.filter(list.toString().split('\0').filter(Boolean))) {
    mkdirSync(join(context, dirname(path)), { recursive: true });
    cpSync(join(ROOT, path), join(context, path));
  }
}

/** Returns the folder that stands for /app of the last stage. */
function build(): string {
  const stages = new Map<string, string>();
  let app = '';
  for (const instruction of DockerfileParser.parse(textOf('Dockerfile')).getInstructions()) {
    const words = instruction.getArguments().map((argument) => argument.getValue());
    if (instruction.getKeyword() === 'FROM') {
      app = join(folder, `stage-${stages.size}`);
      stages.set(words[2] ?? 'last', app);
      mkdirSync(app);
    }
    if (instruction.getKeyword() === 'COPY') copy(instruction as Copy, words, app, stages);
    if (instruction.getKeyword() === 'RUN') run(instruction, app);
  }
  return app;
}

function copy(instruction: Copy, words: readonly string[], app: string, stages: ReadonlyMap<string, string>): void {
  const from = instruction.getFromFlag()?.getValue();
  const paths = words.filter((word) => !word.startsWith('--'));
  const to = join(app, paths.at(-1) ?? '.');
  if (from) {
    renameSync((paths[0] ?? '').replace(/^\/app/, stages.get(from) ?? ''), to); // a stage that is not needed any more
    return;
  }
  const sources = paths.slice(0, -1);
  for (const source of sources) {
    const isFile = sources.length > 1;
    cpSync(join(context, source), isFile ? join(to, source) : to, { recursive: true });
  }
}

function run(instruction: Instruction, app: string): void {
  const command = instruction.getArgumentsContent() ?? '';
  if (OF_THE_ENGINE.includes(command)) return;
  console.log(`image: ${command}`);
  execFileSync('sh', ['-c', command], { cwd: app, stdio: ['ignore', 'inherit', 'inherit'] });
}

function wordsOf(keyword: string, app: string): string[] {
  const line = new RegExp(`^${keyword} (.*)$`, 'm').exec(textOf('Dockerfile'))?.[1] ?? '[]';
  return (JSON.parse(line) as string[]).map((word) => word.replace(/^\/app\//, `${app}/`));
}

/** Runs the words as the image's unprivileged user. */
function asNobody(words: readonly string[]): string[] {
  if (process.getuid?.() !== 0) return [...words];
  return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs', ...words];
}

makeContext();
const began = Date.now();
const app = build();
console.log(`image: built in ${((Date.now() - began) / 1000).toFixed(0)} s`);

const data = join(folder, 'data');
const temporary = join(folder, 'tmp');
for (const path of [data, temporary]) {
  mkdirSync(path);
  execFileSync('chown', [process.getuid?.() === 0 ? NOBODY : String(process.getuid?.()), path]);
}
const node = join(folder, 'node'); // where any user may run it
cpSync(process.execPath, node);
const env = {
  ...imageEnvironment(),
  PATH: `${folder}:/usr/bin:/bin`,
  HOST: '127.0.0.1',
  PORT: '0',
  DATA_DIR: data,
  TMPDIR: temporary,
};
const [file = '', ...args] = asNobody([...wordsOf('ENTRYPOINT', app), ...wordsOf('CMD', app)]);
const service = spawn(file, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] });
const ended = once(service, 'exit');
process.on('exit', () => {
  service.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
let output = '';
service.stdout.setEncoding('utf8').on('data', (text: string) => {
  output += text;
});

let base = '';
const deadline = Date.now() + READY_MS;
for (;;) {
  base ||= /index of the API +(http:\/\/[^/]+)\/api\//.exec(output)?.[1] ?? '';
  const answer = base === '' ? null : await fetch(`${base}/api/health/ready`).catch(() => null);
  if (answer?.ok) break;
  if (service.exitCode !== null || Date.now() > deadline)
    throw new Error(`the image's program is not ready:\n${output}`);
  await sleep(500);
}
const { results } = (await (await fetch(`${base}/api/blocks/?pageSize=1`)).json()) as { results: { height: number }[] };
const [check = '', ...rest] = asNobody(['node', 'infra/launch/health-check.mjs']);
execFileSync(check, rest, { cwd: app, env: { ...env, PORT: new URL(base).port }, stdio: 'inherit' });
console.log(`image: ready at block ${results[0]?.height}, and its health check passes`);

service.kill('SIGTERM');
const end = await Promise.race([ended, sleep(END_MS, ['late'])]);
if (end[0] !== 0) throw new Error(`SIGTERM ended the image's program with ${end[0]}:\n${output}`);
console.log('image: ended by SIGTERM');
process.exit(0);
