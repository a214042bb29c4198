/** Builds the package. It is installed without the server, so paths.ts is written out, each member with its description. Usage: npm pack */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { routeTable } from '../api/rest/route-table.ts';
import { typesOf } from './types-of.ts';

const source = new URL('../.cache/client/', import.meta.url);
rmSync(source, { recursive: true, force: true });
for (const part of ['index.ts', 'client.ts', 'stream']) {
  cpSync(new URL(part, import.meta.url), new URL(part, source), { recursive: true });
}
writeFileSync(new URL('paths.ts', source), typesOf(routeTable));
rmSync(new URL('dist', import.meta.url), { recursive: true, force: true });
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
execFileSync(process.execPath, [compiler, '-p', fileURLToPath(new URL('tsconfig.json', import.meta.url))], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
