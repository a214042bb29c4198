/** The start of `verusd` in a container: its parameters are complete before it runs, however often and in how many containers it is started. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../house/source-files.ts';

const hasFlock = spawnSync('flock', ['--version']).status === 0;

/** Like the script of a release: fetches two files, one after the other, and skips those that are there. Not safe to run twice at once. */
const FETCH = `#!/bin/sh
set -eu
for name in sapling-spend sprout-groth16; do
  file="$HOME/.zcash-params/$name.params"
  [ -f "$file" ] && continue
  for piece in 1 2 3; do echo "$piece" >>"$file.dl"; sleep 0.1; done
  [ "$(cat "$file.dl" | tr -d '\\n')" = 123 ] || exit 1
  mv "$file.dl" "$file"
  [ -f "$HOME/interrupt" ] && rm "$HOME/interrupt" && exit 1
done
exit 0
`;

function installed() {
  const home = mkdtempSync(join(tmpdir(), 'verustream-verusd-'));
  mkdirSync(join(home, '.zcash-params'));
  const program = (name: string, text: string) => {
    writeFileSync(join(home, name), text);
    chmodSync(join(home, name), 0o755);
  };
  program('fetch-params', FETCH);
  program('verusd', '#!/bin/sh\nls "$HOME/.zcash-params"; echo "$@"\n');
  const script = readFileSync(join(ROOT, 'infra/deploy/verusd/verusd-entrypoint.sh'), 'utf8');
  program('entrypoint', script.replaceAll('/opt/verus', home));
  const start = async () => {
    const child = spawn(join(home, 'entrypoint'), ['-chain=VRSC'], { env: { PATH: process.env.PATH, HOME: home } });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, output };
  };
  return { home, start };
}

const STARTED = { code: 0, output: 'sapling-spend.params\nsprout-groth16.params\n-printtoconsole -chain=VRSC\n' };

it.skipIf(!hasFlock)('fetches the rest after an interruption', async () => {
  const { home, start } = installed();
  writeFileSync(join(home, 'interrupt'), '');
  expect(await start()).toMatchObject({ code: 1 });
  expect(existsSync(join(home, 'interrupt'))).toBe(false);
  expect(await start()).toEqual(STARTED);
});

it.skipIf(!hasFlock)('four containers with one home fetch each file once', async () => {
  const { start } = installed();
  expect(await Promise.all(Array.from({ length: 4 }, start))).toEqual([STARTED, STARTED, STARTED, STARTED]);
});
