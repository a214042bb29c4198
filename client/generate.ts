/** Writes paths.ts, the types that openapi-fetch takes, and the types of the stream's messages. Usage: node client/generate.ts */
import { writeFileSync } from 'node:fs';
import { routeTable } from '../api/rest/route-table.ts';
import { typesOfMessages } from './stream/types-of-messages.ts';
import { typesOf } from './types-of.ts';

writeFileSync(new URL('./paths.ts', import.meta.url), typesOf(routeTable));
writeFileSync(new URL('./stream/messages.ts', import.meta.url), typesOfMessages());
