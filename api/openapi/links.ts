/** What can be asked with the id that an answer gives: the paths below the one that made it. */
import { methodOf, type Route } from '../http/route.ts';
import { operationId } from './operation-id.ts';

/** By operation; empty when the route makes nothing that has a path of its own. */
export function linksOf(route: Route, routes: readonly Route[]) {
  if (methodOf(route) !== 'POST') return {};
  const stem = `${route.path}/:id`;
  // Behind a second parameter is what the answer does not name.
  const below = routes.filter(({ path }) => path.startsWith(stem) && !path.includes(':', stem.length));
  return Object.fromEntries(
    below.map((other) => [
      operationId(other),
      { operationId: operationId(other), parameters: { id: '$response.body#/id' } },
    ]),
  );
}
