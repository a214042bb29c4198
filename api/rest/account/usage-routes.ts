/** Past usage of an identity's keys and sessions, and its remaining allowances: /api/usage */
import { demandOfIdentity, demandOfKey } from '../../access/bills.ts';
import { accountOf, type KeyOwner, listKeys, tierOf } from '../../access/key-store.ts';
import { readUsage, USAGE_PARTS, type UsagePlace, type UsageRow } from '../../access/read-usage.ts';
import { WRITTEN_WITHIN_S } from '../../access/usage.ts';
import { STEP_SECONDS, USAGE_STEPS, type UsageStep } from '../../access/usage-steps.ts';
import type { ApiContext } from '../../api-context.ts';
import { parameterError } from '../../http/api-error.ts';
import { csvLine } from '../../http/csv.ts';
import { type ParameterValues, queryParameter } from '../../http/parameters.ts';
import { refuseEmptyRange, wholeSteps } from '../../http/ranges.ts';
import { liveRoute } from '../../http/route.ts';
import { SECONDS } from '../../http/time-parameter.ts';
import { USAGE_COLUMNS, usage, usageNow } from './usage-schema.ts';

const live = { weight: 1, cache: 'none', ofAccount: true, holder: 'keyOrSession' } as const;

const MOST_ROWS = 10_000;
/** Time span in seconds that a request without `from` covers. */
const SPAN_S: Readonly<Record<UsageStep, number>> = {
  minute: 60 * STEP_SECONDS.minute,
  hour: 24 * STEP_SECONDS.hour,
  day: 30 * STEP_SECONDS.day,
};
const KEY = { type: 'string', pattern: '^([0-9a-f]{16}|session)$' } as const;
/** Step and kind of the rows, `from` of the first request, start of the last row's step, and the last row's key or route in base64url. */
const CURSOR = {
  type: 'string',
  pattern: '^[a-z]{1,9}\\.[a-z]{1,9}\\.\\d{1,12}\\.\\d{1,12}\\.[A-Za-z0-9_-]{0,400}$',
} as const;

const parameters = {
  step: queryParameter('Minutes are kept for 24 hours, hours for 30 days, days for 400 days', {
    type: 'string',
    enum: USAGE_STEPS,
    default: 'minute',
  }),
  by: queryParameter(
    'One row for each key or for each route; routes are counted by hour and day, and kept for 30 days',
    {
      type: 'string',
      enum: USAGE_PARTS,
      default: 'key',
    },
  ),
  from: queryParameter(
    'Seconds since the epoch; by default an hour (step minute), a day (hour) or 30 days (day) before `to`',
    SECONDS,
  ),
  to: queryParameter('Seconds since the epoch, exclusive; now by default. Steps are shown whole', SECONDS),
  key: queryParameter('Only this key, or `session`', KEY),
  limit: queryParameter('Rows; more than 10,000 is served as 10,000', { type: 'integer', minimum: 1, default: 1_000 }),
  cursor: queryParameter(
    'nextCursor of an answer to the same `step` and `by`: continues after its last row, with the same start of the range',
    CURSOR,
  ),
};

/** @throws ApiError cursor_invalid when this service did not issue the cursor for these rows */
function readPlace(cursor: string, rowsOf: string): UsagePlace & { readonly from: number } {
  const [step, by, from, at, encoded = ''] = cursor.split('.');
  const of = Buffer.from(encoded, 'base64url').toString();
  if (`${step}.${by}` !== rowsOf || of.includes('\0') || Buffer.from(of).toString('base64url') !== encoded) {
    throw parameterError(
      'cursor',
      'the cursor is not of this list: pass nextCursor of an answer unchanged, with the same step and by',
      'cursor_invalid',
    );
  }
  return { from: Number(from), at: Number(at), of };
}

function cursorOf(rowsOf: string, from: number, { at, of }: UsageRow): string {
  return `${rowsOf}.${from}.${at.getTime() / 1000}.${Buffer.from(of).toString('base64url')}`;
}

async function read(api: ApiContext, holder: KeyOwner, params: ParameterValues<typeof parameters>) {
  const { step, by, cursor } = params;
  const limit = Math.min(params.limit, MOST_ROWS);
  if (by === 'route' && step === 'minute') {
    throw parameterError('step', 'routes are counted by hour: step must be hour or day');
  }
  refuseEmptyRange(wholeSteps(STEP_SECONDS[step]), ['from', params.from], ['to', params.to]);
  const to = params.to ?? Math.ceil(Date.now() / 1000);
  const rowsOf = `${step}.${by}`;
  const after = cursor === undefined ? null : readPlace(cursor, rowsOf);
  const from = after?.from ?? params.from ?? Math.max(0, to - SPAN_S[step]);
  const asked = { step, by, from, to, keyId: params.key ?? null, limit: limit + 1, after };
  const rows = await readUsage(api.postgres, holder, asked);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const results = rows.slice(0, limit).map(({ at, of, ...sums }) => ({
    at: at.toISOString(),
    keyId: by === 'key' ? of : null,
    route: by === 'route' ? of : null,
    requests: Number(sums.requests),
    credits: Number(sums.credits),
    refused: Number(sums.rate_limited + sums.key_limited + sums.tier_required),
    rateLimited: Number(sums.rate_limited),
    keyLimited: Number(sums.key_limited),
    tierRequired: Number(sums.tier_required),
  }));
  return { step, by, results, nextCursor: last ? cursorOf(rowsOf, from, last) : null };
}

const used = liveRoute({
  ...live,
  path: '/api/usage',
  summary: 'Usage of an identity by step and by key or route; needs a session or any of its keys',
  parameters,
  response: usage,
  async handler({ api, holder, params }) {
    const rest = await read(api, holder, params);
    const tier = await tierOf(api.postgres, holder);
    return { body: { tier, creditsPerMinute: api.config.tiers[tier].creditsPerMinute, ...rest } };
  },
});

const CSV_TYPE = 'text/csv; charset=utf-8';

const usedCsv = liveRoute({
  ...live,
  path: '/api/usage/csv',
  summary: 'The same rows as CSV; if there are more than `limit`, the header X-Next-Cursor has the cursor',
  parameters,
  response: { type: 'string' },
  headers: ['X-Next-Cursor'],
  produces: CSV_TYPE,
  async handler({ api, holder, params }) {
    const { results, nextCursor } = await read(api, holder, params);
    const lines = results.map((row) => csvLine(Object.values(row)));
    return {
      contentType: CSV_TYPE,
      headers: nextCursor === null ? {} : { 'X-Next-Cursor': nextCursor },
      body: csvLine(Object.keys(USAGE_COLUMNS)) + lines.join(''),
    };
  },
});

const now = liveRoute({
  ...live,
  path: '/api/usage/now',
  summary: 'What is left of the allowances now; needs a session or any key of the identity',
  parameters: {},
  response: usageNow,
  async handler({ api, holder }) {
    return { body: await standingOf(api, holder) };
  },
});

async function standingOf(api: ApiContext, holder: KeyOwner) {
  const tier = await tierOf(api.postgres, holder);
  const { tiers } = api.config;
  const keys = await listKeys(api.postgres, holder);
  const limited = keys.flatMap(({ id, name, credits_per_minute: limit }) =>
    limit === null ? [] : { id, name, limit },
  );
  const ofIdentity = demandOfIdentity(tiers, { account: accountOf(holder), tier }, 0);
  const ofKeys = limited.map(({ id, limit }) => demandOfKey(tiers, { id, tier }, limit, 0));
  const standings = await api.standings([ofIdentity, ...ofKeys]);
  const shown = (index: number) => {
    const standing = standings[index];
    if (!standing) throw new TypeError('an allowance has no standing');
    const { allowance, remaining, resetMs } = standing;
    return { creditsPerMinute: allowance, remaining, resetSeconds: Math.ceil(resetMs / 1000) };
  };
  return {
    at: new Date().toISOString(),
    tier,
    ...shown(0),
    keys: limited.map(({ id, name }, index) => ({ id, name, ...shown(index + 1) })),
    writtenWithinSeconds: WRITTEN_WITHIN_S,
  };
}

export const usageRoutes = [used, usedCsv, now];
