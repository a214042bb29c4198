/** Measures how long requests took, by route template, method and status. Each series is looked up by its labels only once. */
import type { CountedSeries } from '../../infra/counted-histogram.ts';
import { metrics } from '../../infra/metrics.ts';

const METHODS = ['other', 'get', 'head', 'post', 'put', 'patch', 'delete', 'options'];
const STATUSES = 1000;
/** By route, then by method and status as one number, so that no request has to build a name. */
const known = new Map<string, Map<number, CountedSeries>>();

export function observeRequest(route: string, method: string, status: number, seconds: number): void {
  let ofRoute = known.get(route);
  if (!ofRoute) {
    ofRoute = new Map();
    known.set(route, ofRoute);
  }
  // A client may send any word as the method; labels must be bounded.
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
