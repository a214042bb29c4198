/** How the typed client handles answers with another status, over real HTTP. */
import { afterEach, expect, it } from 'vitest';
import { liveRoute } from '../api/http/route.ts';
import { readiness } from '../api/rest/service/schema.ts';
import { startSmallApi } from '../test/support/api/http/small-api.ts';
import { createVerustreamClient } from './client.ts';
import { isNumberText, type NumberText } from './exact-json.ts';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const closer of closers.splice(0)) closer();
});

const reason = {
  code: 'behind',
  chain: 'vrsc',
  stage: 'tail',
  cause: null,
  detail: '5 blocks',
  etaSeconds: 90,
  goneSince: null,
};

/** Starts a service that reports that it is not ready. */
async function start(): Promise<string> {
  const ready = liveRoute({
    path: '/api/health/ready',
    summary: '',
    parameters: {},
    response: readiness,
    otherwise: 503,
    weight: 1,
    cache: 'none',
    handler: async () => ({ status: 503, body: { status: 'not_ready', reasons: [reason], notes: [] } }),
  });
  const api = await startSmallApi({ routes: [ready] });
  closers.push(() => api.close());
  return `http://127.0.0.1:${api.port}`;
}

it('returns the answer with another status as the error, distinct from a refusal', async () => {
  const { error, response } = await createVerustreamClient({ baseUrl: await start() }).GET('/api/health/ready');
  const seconds: number | null | undefined = error?.status === 'not_ready' ? error.reasons[0]?.etaSeconds : 0;
  expect([response.status, seconds]).toEqual([503, 90]);
});

it('reads the numbers of such an answer as text if asked to', async () => {
  const verustream = createVerustreamClient({ baseUrl: await start(), numbers: 'text' });
  const { error } = await verustream.GET('/api/health/ready');
  const [first] = error?.status === 'not_ready' ? error.reasons : [];
  const seconds: NumberText | null | undefined = first?.etaSeconds;
  expect(seconds).toBe('90');
  expect(isNumberText(first ?? {}, 'etaSeconds')).toBe(true);
});

it('always reads the numbers of a refusal as numbers', async () => {
  const verustream = createVerustreamClient({ baseUrl: await start(), numbers: 'text' });
  const { error } = await verustream.GET('/api/health');
  expect(error).toMatchObject({ code: 'not_found', status: 404 });
});
