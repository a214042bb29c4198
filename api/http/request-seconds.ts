/** How long requests took, by route template, method and status: each series is found by its labels once. */
import type { CountedSeries } from '../../infra/counted-histogram.ts';
import { metrics } from '../../infra/metrics.ts';

const METHODS = ['other', 'get', 'head', 'post', 'put', 'patch', 'delete', 'options'];
const STATUSES = 1000;
/** By route, then by method and status as one number: no name is put together at a request. */
const known = new Map<string, Map<number, CountedSeries>>();

export function observeRequest(route: string, method: string, status: number, seconds: number): void {
  let ofRoute = known.get(route);
  if (!ofRoute) {
    ofRoute = new Map();
    known.set(route, ofRoute);
  }
  // A method is any word that a client sends; a label must not be.
  const methodIndex = Math.max(0, METHODS.indexOf(method));
  const which = methodIndex * STATUSES + status;
  let series = ofRoute.get(which);
  if (!series) {
    series = metrics.requestSeconds.series({
      route,
      method: METHODS[methodIndex] ?? 'other',
      status: String(status),
    });
    ofRoute.set(which, series);
  }
  series.observe(seconds);
}
