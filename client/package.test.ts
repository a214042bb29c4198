/** The packed client, as installed by a user. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

const CLIENT = fileURLToPath(new URL('.', import.meta.url));
const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));

it('contains its README, the types of the route table, both clients, and the version of the service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-client-'));
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: CLIENT,
    encoding: 'utf8',
  });
  const own = join(folder, 'node_modules/verustream-client');
  mkdirSync(own, { recursive: true });
  execFileSync('tar', [
    '-xzf',
    join(folder, packed.trim().split('\n').at(-1) ?? ''),
    '--strip-components=1',
    '-C',
    own,
  ]);
  const read = (file: string) => readFileSync(join(own, file), 'utf8');
  expect(read('README.md')).toContain('# Client');
  expect(read('dist/index.d.ts')).toContain('createVerustreamClient');
  const { version, dependencies } = JSON.parse(read('package.json')) as { version: string; dependencies: object };
  expect(version).toBe(manifest.version);
  expect(manifest.dependencies).toMatchObject(dependencies);
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers']) {
    cpSync(join(MODULES, name), join(folder, 'node_modules', name), { recursive: true });
  }
  const agree = `import type { paths as Inferred } from '${CLIENT}paths.ts';
    import type { ServerMessage as InferredMessage } from '${CLIENT}stream/messages.ts';
    import type { paths as Packed, ServerMessage as PackedMessage } from 'verustream-client';
    type Agreeing = { [P in keyof Inferred & keyof Packed]:
      [Inferred[P], Packed[P]] extends [Packed[P], Inferred[P]] ? P : never }[keyof Inferred & keyof Packed];
    export const apart: Record<Exclude<keyof Inferred | keyof Packed, Agreeing>, never> = {};
    export const same: [InferredMessage, PackedMessage] extends [PackedMessage, InferredMessage] ? true : false = true;`;
  writeFileSync(join(folder, 'agree.mts'), agree);
  const compilerOptions = { typeRoots: [join(MODULES, '@types')] };
  const settings = { extends: join(CLIENT, '../tsconfig.json'), compilerOptions, include: [], files: ['agree.mts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(MODULES, 'typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', folder], { stdio: 'inherit' });
  const program = `import { createVerustreamClient, openStream } from 'verustream-client';
    console.log(typeof createVerustreamClient({ baseUrl: 'http://127.0.0.1:1' }).GET, typeof openStream);`;
  writeFileSync(join(folder, 'use.mjs'), program);
  expect(execFileSync(process.execPath, ['use.mjs'], { cwd: folder, encoding: 'utf8' })).toBe('function function\n');
});

it('the changelog begins with the version of the package', () => {
  const [, newest] = /^## (\S+)$/m.exec(readFileSync(join(CLIENT, '../CHANGELOG.md'), 'utf8')) ?? [];
  expect(newest).toBe(manifest.version);
});
