// Starts a program of this project on a fresh machine: installs what is missing, selects a Node.js for which the native parts
// exist (22 or 23: that of the host, else the pinned one of infra/launch/runtime) and starts the script with it.
// Usage: node infra/launch/run.mjs <script> [arguments]
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeEnvironment, nodeOptions } from './node-options.mjs';
import { linkPostgresLibraries } from './postgres-libraries.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const runtime = join(root, 'infra/launch/runtime');

function install(folder, what, { development = false } = {}) {
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  const whole = `${lock} with what development needs`;
  const marker = join(folder, 'node_modules/.installed');
  const installed = existsSync(marker) ? readFileSync(marker, 'utf8') : null;
  if (installed === whole || (installed === lock && !development)) return;
  console.error(`verustream: installing ${what} (first start only) …`);
  const npm = (...args) => {
    const cli = process.env.npm_execpath;
    const [file, rest] = cli?.endsWith('.js') ? [process.execPath, [cli, ...args]] : ['npm', args];
    return spawnSync(file, rest, { cwd: folder, stdio: ['ignore', 2, 2], env: installEnvironment() }).status === 0;
  };
  // `npm ci` fails on a platform whose packages the lock file lacks; `npm install` still gets the exact versions in package.json.
  const options = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts'];
  options.push(development ? '--include=dev' : '--omit=dev');
  // Adds packages if possible: `npm ci` first removes everything, so a service started from this folder would lose its modules.
  const adds = installed === lock && npm('install', '--no-save', ...options);
  if (!adds && !npm('ci', ...options) && !npm('install', '--no-package-lock', ...options)) {
    console.error(`verustream: npm could not install ${what}; see its message above.`);
    process.exit(1);
  }
  linkPostgresLibraries(folder);
  writeFileSync(marker, development ? whole : lock);
}

// `npm start` passes its settings on as npm_* variables; the nested npm must read its own.
function installEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|command)/.test(name)),
  );
}

function hostFits() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return (major === 22 && minor >= 18) || major === 23;
}

function pinnedNode() {
  install(runtime, 'Node.js 22');
  const file = join(runtime, 'node_modules/.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
  if (existsSync(file)) return file;
  console.error(
    `verustream: needs Node.js 22 (22.18 or newer) or 23; this is ${process.version} and none is bundled for ${process.platform}-${process.arch}. Install Node.js 22.`,
  );
  process.exit(1);
}

const [script, ...args] = process.argv.slice(2);
install(root, 'dependencies', { development: script !== 'verustream.ts' });
const node = hostFits() ? process.execPath : pinnedNode();
const child = spawn(node, [...nodeOptions, join(root, script), ...args], {
  cwd: root,
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'], // if this wrapper is killed, the channel closes and the program ends
  env: {
    // Caches compiled modules: loading the program takes a third less time, also in every process that a test starts.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
    ...nodeEnvironment,
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  },
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal]; // as a shell reports it
  process.disconnect?.();
});
