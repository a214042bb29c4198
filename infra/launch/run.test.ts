import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../test/house/source-files.ts';

it.skipIf(process.platform === 'win32').each([
  ['process.exit(3)', 3],
  ["process.kill(process.pid, 'SIGTERM')", 143],
  ["process.kill(process.pid, 'SIGINT')", 130],
  ["process.kill(process.pid, 'SIGKILL')", 137],
])('the launcher ends as a shell would after %s: with %i', (line, code) => {
  const script = join(mkdtempSync(join(tmpdir(), 'launch-')), 'script.mjs');
  writeFileSync(script, `${line};\nsetInterval(() => undefined, 1000);\n`);
  const launcher = join(ROOT, 'infra/launch/run.mjs');
  expect(spawnSync(process.execPath, [launcher, relative(ROOT, script)], { stdio: 'ignore' }).status).toBe(code);
});
