/** OpenAPI links: requests that are possible with the `id` in an answer, which are the paths below the one that created it. */
import { methodOf, type Route } from '../http/route.ts';
import { operationId } from './operation-id.ts';

/** Returns links by operation; empty when the route creates nothing with its own path. */
export function linksOf(route: Route, routes: readonly Route[]) {
  if (methodOf(route) !== 'POST') return {};
  const stem = `${route.path}/:id`;
  // Paths with a second parameter are excluded: the answer does not contain its value.
  const below = routes.filter(({ path }) => path.startsWith(stem) && !path.includes(':', stem.length));
  return Object.fromEntries(
    below.map((other) => [
      operationId(other),
      { operationId: operationId(other), parameters: { id: '$response.body#/id' } },
    ]),
  );
}
