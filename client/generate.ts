/** Writes paths.ts: the types that openapi-fetch takes, from the route table. Usage: node client/generate.ts */
import { writeFileSync } from 'node:fs';
import { routeTable } from '../api/routes/route-table.ts';
import { typesOf } from './types-of.ts';

writeFileSync(new URL('./paths.ts', import.meta.url), typesOf(routeTable));
