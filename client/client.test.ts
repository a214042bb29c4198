import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { routeTable } from '../api/rest/route-table.ts';
import { typesOfMessages } from './stream/types-of-messages.ts';
import { typesOf } from './types-of.ts';

it.each([
  ['paths.ts', typesOf(routeTable)],
  ['stream/messages.ts', typesOfMessages()],
])('%s is what the tables make now; else run `node client/generate.ts`', (file, made) => {
  expect(readFileSync(new URL(`./${file}`, import.meta.url), 'utf8')).toBe(made);
});
