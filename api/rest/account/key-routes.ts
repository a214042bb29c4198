/** Keys of the identity that is logged in: /api/keys */
import type { AccessTier, Config } from '../../../schemas/config.ts';
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
import { ApiError, notFound, parameterError } from '../../http/api-error.ts';
import { pathParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import { DEFAULT_NAME, issuedKey, KEY_ID, keyList, keyRequest, nothing } from './schema.ts';

const live = { weight: 1, cache: 'none', ofAccount: true, holder: 'session' } as const;
const id = pathParameter('Id of the key: the part between the underscores', KEY_ID);

const shown = (row: KeyRow) => ({
  id: row.id,
  name: row.name,
  creditsPerMinute: row.credits_per_minute,
  createdAt: row.created_at.toISOString(),
  regeneratedAt: row.regenerated_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
});

const issued = ({ row, key }: IssuedKey) => ({ ...shown(row), key });

/** @throws ApiError invalid_parameter when the limit exceeds the credits of the tier */
function checkLimit(tiers: Config['tiers'], tier: AccessTier, limit: number): void {
  const most = tiers[tier].creditsPerMinute;
  if (limit <= most) return;
  const detail = `creditsPerMinute must be at most ${most}, the credits of the tier ${tier}`;
  throw parameterError('creditsPerMinute', detail);
}

const list = liveRoute({
  ...live,
  path: '/api/keys',
  summary: 'Keys of the identity that is logged in',
  parameters: {},
  response: keyList,
  async handler({ api, holder }) {
    const tier = await tierOf(api.postgres, holder);
    const { creditsPerMinute } = api.config.tiers[tier];
    return { body: { tier, creditsPerMinute, keys: (await listKeys(api.postgres, holder)).map(shown) } };
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
  errors: ['too_many_keys'],
  async handler({ api, holder, body }) {
    const limit = body.creditsPerMinute ?? null;
    if (limit !== null) checkLimit(api.config.tiers, await tierOf(api.postgres, holder), limit);
    const made = await createKey(api.postgres, holder, body.name ?? DEFAULT_NAME, limit);
    if (!made) throw new ApiError('too_many_keys', `an identity may have ${MAX_KEYS} keys: revoke one first`);
    return { body: issued(made) };
  },
});

const regenerate = liveRoute({
  ...live,
  path: '/api/keys/:id/regenerate',
  method: 'POST',
  summary: 'A new secret for a key; the old one stops working at once',
  parameters: { id },
  response: issuedKey,
  async handler({ api, holder, params }) {
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
  async handler({ api, holder, params }) {
    if (!(await revokeKey(api.postgres, holder, params.id))) throw notFound(`key ${params.id}`);
    return { body: null };
  },
});

export const keyRoutes = [list, create, regenerate, revoke];
