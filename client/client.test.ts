import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { routeTable } from '../api/routes/route-table.ts';
import { typesOf } from './types-of.ts';

it('paths.ts is what the route table makes now; else run `node client/generate.ts`', () => {
  expect(readFileSync(new URL('./paths.ts', import.meta.url), 'utf8')).toBe(typesOf(routeTable));
});
