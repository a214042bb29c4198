/** Writes the types of the stream's messages. Usage: node client/generate.ts */
import { writeFileSync } from 'node:fs';
import { typesOfMessages } from './stream/types-of-messages.ts';

writeFileSync(new URL('./stream/messages.ts', import.meta.url), typesOfMessages());
