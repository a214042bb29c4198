/** /api/health and /api/health/ready: docs/health.md */

import { anyChainParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import { health, readiness } from './schema.ts';

const alive = liveRoute({
  path: '/api/health',
  summary: 'Whether the process is alive; `degraded` while it is not ready',
  parameters: {},
  response: health,
  weight: 1,
  vital: true,
  cache: 'none',
  async handler({ api }) {
    return { body: { status: api.health.reasons(null).length === 0 ? 'ok' : 'degraded' } };
  },
});

const ready = liveRoute({
  path: '/api/health/ready',
  summary:
    'Whether every chain, or the given one, follows its daemon and the stores answer; otherwise 503 with the reasons',
  parameters: { chain: anyChainParameter },
  response: readiness,
  otherwise: 503,
  weight: 1,
  vital: true,
  cache: 'none',
  async handler({ api, params }) {
    const chain = params.chain ?? null;
    const [reasons, notes] = [api.health.reasons(chain), api.health.notes(chain)];
    if (reasons.length === 0) return { body: { status: 'ready', reasons, notes } };
    return { status: 503, headers: { 'Retry-After': '5' }, body: { status: 'not_ready', reasons, notes } };
  },
});

export const healthRoutes = [alive, ready];
