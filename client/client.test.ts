import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { typesOfMessages } from './stream/types-of-messages.ts';

it('stream/messages.ts is what the tables make now; else run `node client/generate.ts`', () => {
  expect(readFileSync(new URL('./stream/messages.ts', import.meta.url), 'utf8')).toBe(typesOfMessages());
});
