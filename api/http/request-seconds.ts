/** How long requests took, by route template, method and status: each histogram child is found by its labels once. */
import { metrics } from '../../infra/metrics.ts';

type Child = ReturnType<typeof metrics.requestSeconds.labels>;

const METHODS = ['other', 'get', 'head', 'post', 'put', 'patch', 'delete', 'options'];
const STATUSES = 1000;
/** By route, then by method and status as one number: no name is put together at a request. */
const children = new Map<string, Map<number, Child>>();

export function observeRequest(route: string, method: string, status: number, seconds: number): void {
  let ofRoute = children.get(route);
  if (!ofRoute) {
    ofRoute = new Map();
    children.set(route, ofRoute);
  }
  // A method is any word that a client sends; a label must not be.
  const known = Math.max(0, METHODS.indexOf(method));
  const which = known * STATUSES + status;
  let child = ofRoute.get(which);
  if (!child) {
    child = metrics.requestSeconds.labels({ route, method: METHODS[known] ?? 'other', status: String(status) });
    ofRoute.set(which, child);
  }
  child.observe(seconds);
}
