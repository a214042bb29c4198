/** Each path costs as much as its class: cached reads, reads of the stores, and calls to a daemon. */
import { expect, it } from 'vitest';
import { routeTable } from './route-table.ts';

/** Paths by their credits; all other paths cost 2. */
const CLASSES: Readonly<Record<0 | 1 | 5, RegExp>> = {
  0: /^\/(metrics|api\/(docs|openapi|asyncapi|errors|datasets)\b.*)$/,
  1: /^\/api\/(|market\/(protocol|overview|currencies|baskets|volume|vrsc-pools|marks)|oracle\/prices(\/:id)?|names|mempool\/(conversions)?|(stats|search|health|auth|keys|usage|webhooks)\b.*)$/,
  5: /^\/api\/(.*\/raw|address\/:addr\/balance|market\/(estimate|best-conversion)|mempool\/estimates)$/,
};

function weightOf(path: string): number {
  const found = Object.entries(CLASSES).find(([, paths]) => paths.test(path));
  return found ? Number(found[0]) : 2;
}

it('charges each path the credits of its class', () => {
  expect(routeTable.length).toBeGreaterThan(80);
  const deviating = routeTable.filter(({ path, weight }) => weight !== weightOf(path));
  expect(deviating.map(({ path, weight }) => [path, weight])).toEqual([]);
});
