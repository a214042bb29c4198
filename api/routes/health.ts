/** /api/health and /api/health/ready */
import { health, readiness } from '../../schemas/rest/service.ts';
import type { ApiContext } from '../api-context.ts';
import { liveRoute } from '../http/route.ts';
import { type UnreadyReason, whyStill } from '../state/stage-statuses.ts';

function stillChains({ config, watch }: ApiContext): UnreadyReason[] {
  const now = Date.now();
  return config.chains.flatMap((chain) => whyStill(chain, watch.statuses, now));
}

/** The watch looks several times a second; silence of this length means that Postgres does not answer. */
const UNSEEN_MS = 10_000;

const alive = liveRoute({
  path: '/api/health',
  summary: 'The process answers; degraded while it is not ready',
  parameters: {},
  response: health,
  weight: 1,
  tier: null,
  vital: true,
  cache: 'none',
  async handler({ api }) {
    const degraded = stillChains(api).length > 0 || Date.now() - api.watch.seenAt > UNSEEN_MS;
    return { body: { status: degraded ? 'degraded' : 'ok' } };
  },
});

const ready = liveRoute({
  path: '/api/health/ready',
  summary: 'Every chain moves and the stores answer; 503 with the reasons otherwise',
  parameters: {},
  response: readiness,
  otherwise: 503,
  weight: 1,
  tier: null,
  vital: true,
  cache: 'none',
  async handler({ api }) {
    const faults = (await api.storeFaults()).map(
      (detail): UnreadyReason => ({ code: 'store_unreachable', chain: null, stage: null, detail }),
    );
    const reasons = [...faults, ...stillChains(api)];
    if (reasons.length === 0) return { body: { status: 'ready', reasons } };
    return { status: 503, headers: { 'Retry-After': '5' }, body: { status: 'not_ready', reasons } };
  },
});

export const healthRoutes = [alive, ready];
