/** The index of the API, its errors, and the metrics. */
import { registry } from '../../../infra/metrics.ts';
import { API_ERRORS } from '../../http/api-error.ts';
import { liveRoute, methodOf, type Route } from '../../http/route.ts';
import { apiErrors, apiIndex } from './schema.ts';

/** Paths that are not in the route table. */
const FURTHER = [
  {
    method: 'GET',
    path: '/api/ws',
    description: 'WebSocket: blocks, reorganisations and other events as they happen',
    credits: 1,
  },
  { method: 'GET', path: '/api/stream', description: 'The same as server-sent events', credits: 1 },
  { method: 'POST', path: '/', description: 'JSON-RPC of the default chain', credits: 5 },
  { method: 'POST', path: '/rpc/:chain', description: 'JSON-RPC of a chain', credits: 5 },
];

export const errorsRoute = liveRoute({
  path: '/api/errors',
  summary: 'Every code that a problem answer can have',
  parameters: {},
  response: apiErrors,
  weight: 0,
  cache: 'none',
  async handler() {
    const entries = Object.entries(API_ERRORS);
    return { body: { errors: entries.map(([code, [status, title, meaning]]) => ({ code, status, title, meaning })) } };
  },
});

export const metricsRoute = liveRoute({
  path: '/metrics',
  summary: 'Prometheus metrics',
  parameters: {},
  response: { type: 'string' },
  produces: 'text/plain; version=0.0.4; charset=utf-8',
  weight: 0,
  cache: 'none',
  async handler() {
    return { contentType: registry.contentType, body: await registry.metrics() };
  },
});

/** `listed` returns the route table lazily because the table contains this route too. */
export function indexRoute(listed: () => readonly Route[]) {
  return liveRoute({
    path: '/api/',
    summary: 'This index',
    parameters: {},
    response: apiIndex,
    weight: 1,
    cache: 'none',
    async handler({ api }) {
      const entries = listed().map((route) => ({
        method: methodOf(route),
        path: route.path,
        description: route.summary,
        credits: route.weight,
      }));
      return {
        body: {
          name: 'verustream',
          version: api.release,
          chains: api.config.chains.map((chain) => chain.name),
          recordings: api.config.recordings,
          endpoints: [...entries, ...FURTHER],
          docs: '/api/docs',
        },
      };
    },
  });
}
