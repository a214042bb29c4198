/** Keys of the identity that is logged in: /api/keys; and what they were used for: /api/usage */

import {
  createKey,
  type IssuedKey,
  type KeyRow,
  listKeys,
  MAX_KEYS,
  regenerateKey,
  revokeKey,
  tierOf,
} from '../../access/key-store.ts';
import { requireHolder, requireSession } from '../../access/require-session.ts';
import { readUsage } from '../../access/usage.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { pathParameter, queryParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import { SECONDS } from '../../http/time-parameter.ts';
import { DEFAULT_NAME, issuedKey, keyList, keyRequest, nothing, usage } from './schema.ts';

const live = { weight: 1, tier: null, cache: 'none', ofAccount: true } as const;
const ID = { type: 'string', pattern: '^[0-9a-f]{16}$' } as const;
const id = pathParameter('Id of the key: what stands between the underscores', ID);

const shown = ({ id: keyId, name, created_at, regenerated_at }: KeyRow) => ({
  id: keyId,
  name,
  createdAt: created_at.toISOString(),
  regeneratedAt: regenerated_at?.toISOString() ?? null,
});

const issued = ({ row, key }: IssuedKey) => ({ ...shown(row), key });

const list = liveRoute({
  ...live,
  path: '/api/keys',
  summary: 'Keys of the identity that is logged in',
  parameters: {},
  response: keyList,
  async handler({ api, caller }) {
    const holder = await requireSession(api, caller);
    const tier = await tierOf(api.postgres, holder);
    return { body: { tier, keys: (await listKeys(api.postgres, holder)).map(shown) } };
  },
});

const create = liveRoute({
  ...live,
  path: '/api/keys',
  method: 'POST',
  status: 201,
  summary: 'A new key; its secret is shown once',
  parameters: {},
  body: keyRequest,
  response: issuedKey,
  async handler({ api, caller, body }) {
    const holder = await requireSession(api, caller);
    const made = await createKey(api.postgres, holder, body.name ?? DEFAULT_NAME);
    if (!made) throw new ApiError('too_many_keys', `an identity may have ${MAX_KEYS} keys: revoke one first`);
    return { body: issued(made) };
  },
});

const regenerate = liveRoute({
  ...live,
  path: '/api/keys/:id/regenerate',
  method: 'POST',
  summary: 'A new secret for a key; the old one ends at once',
  parameters: { id },
  response: issuedKey,
  async handler({ api, caller, params }) {
    const holder = await requireSession(api, caller);
    const made = await regenerateKey(api.postgres, holder, params.id);
    if (!made) throw notFound(`key ${params.id}`);
    return { body: issued(made) };
  },
});

const revoke = liveRoute({
  ...live,
  path: '/api/keys/:id',
  method: 'DELETE',
  status: 204,
  summary: 'Revokes a key',
  parameters: { id },
  response: nothing,
  async handler({ api, caller, params }) {
    const holder = await requireSession(api, caller);
    if (!(await revokeKey(api.postgres, holder, params.id))) throw notFound(`key ${params.id}`);
    return { body: null };
  },
});

const HOUR_S = 3600;
/** Since when, and minute and key of the last row. */
const CURSOR = { type: 'string', pattern: '^-?\\d{1,12}\\.\\d{1,12}\\.[0-9a-f]{16}$' } as const;

function readPlace(cursor: string) {
  const [from, minute, keyId = ''] = cursor.split('.');
  return { from: Number(from), minute: Number(minute), keyId };
}

const MOST_ROWS = 10_000;

const used = liveRoute({
  ...live,
  path: '/api/usage',
  summary: 'What the keys of an identity asked for, by key and minute; with a session or any of its keys',
  parameters: {
    from: queryParameter('Seconds since the epoch; an hour before `to` when it is not given', SECONDS),
    to: queryParameter('Seconds since the epoch, exclusive; now when it is not given', SECONDS),
    key: queryParameter('Of this key alone', ID),
    limit: queryParameter('Rows; more than 10,000 is served as 10,000', {
      type: 'integer',
      minimum: 1,
      default: 1_000,
    }),
    cursor: queryParameter('nextCursor of an answer: goes on after its last row, from where that answer began', CURSOR),
  },
  response: usage,
  async handler({ api, caller, params }) {
    const holder = await requireHolder(api, caller);
    const tier = await tierOf(api.postgres, holder);
    const to = params.to ?? Math.ceil(Date.now() / 1000);
    const { cursor } = params;
    const limit = Math.min(params.limit, MOST_ROWS);
    const place = cursor === undefined ? null : readPlace(cursor);
    const from = place?.from ?? params.from ?? to - HOUR_S;
    const asked = { from, to, keyId: params.key ?? null, limit: limit + 1, after: place };
    const rows = await readUsage(api.postgres, holder, asked);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    const results = rows.slice(0, limit).map(({ key_id, minute, requests, credits, refused }) => ({
      keyId: key_id,
      minute: minute.toISOString(),
      requests: Number(requests),
      credits: Number(credits),
      refused: Number(refused),
    }));
    const nextCursor = last ? `${from}.${last.minute.getTime() / 1000}.${last.key_id}` : null;
    return { body: { tier, creditsPerMinute: api.config.tiers[tier].creditsPerMinute, results, nextCursor } };
  },
});

export const keyRoutes = [list, create, regenerate, revoke, used];
