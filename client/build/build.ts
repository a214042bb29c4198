/**
 * Builds the package. It is installed without the server, so paths.ts and stream/messages.ts are written out in full, with the
 * description of each member. Usage: npm pack
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { routeTable } from '../../api/rest/route-table.ts';
import { typesOf } from './types-of.ts';
import { typesOfMessages } from './types-of-messages.ts';

const here = new URL('..', import.meta.url);
const source = new URL('../.cache/client/', here);
rmSync(source, { recursive: true, force: true });
cpSync(here, source, { recursive: true, filter: (path) => !path.endsWith('/dist') });
writeFileSync(new URL('paths.ts', source), typesOf(routeTable));
writeFileSync(new URL('stream/messages.ts', source), typesOfMessages());
rmSync(new URL('dist', here), { recursive: true, force: true });
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', here));
execFileSync(process.execPath, [compiler, '-p', fileURLToPath(new URL('tsconfig.json', here))], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
