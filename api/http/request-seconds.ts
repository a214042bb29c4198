/** How long requests took, by route template, method and status: each histogram child is found by its labels once. */
import { metrics } from '../../infra/metrics.ts';

type Child = ReturnType<typeof metrics.requestSeconds.labels>;

const METHODS = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options']);
const children = new Map<string, Child>();

export function observeRequest(route: string, method: string, status: number, seconds: number): void {
  const label = methodLabel(method);
  const name = `${label} ${status} ${route}`;
  const child = children.get(name) ?? metrics.requestSeconds.labels({ route, method: label, status: String(status) });
  children.set(name, child);
  child.observe(seconds);
}

/** A method is any word that a client sends; a label must not be. */
function methodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}
