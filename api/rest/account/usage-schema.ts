/** Usage, what is left, and the cost of a plan. */
import { TIERS } from '../../../schemas/config.ts';
import { USAGE_PARTS } from '../../access/read-usage.ts';
import { USAGE_STEPS } from '../../access/usage-steps.ts';
import { array, boolean, integer, isoTime, nullableString, object, string } from '../../schema/json-schema.ts';
import { creditsPerMinute, tier } from './schema.ts';

const step = { type: 'string', enum: USAGE_STEPS } as const;

export const USAGE_COLUMNS = {
  at: { ...isoTime, description: 'Start of the step, UTC' },
  keyId: { ...nullableString, description: '`session` for the sessions of the identity; null by route' },
  route: {
    ...nullableString,
    description: 'Pattern; `none` where no route matched, empty for what was counted before 0.4.0; null by key',
  },
  requests: integer,
  credits: { ...integer, description: 'Accepted ones, exactly' },
  refused: { ...integer, description: 'Requests: the sum of the next three' },
  rateLimited: { ...integer, description: 'Beyond the allowance of the identity' },
  keyLimited: { ...integer, description: 'Beyond the allowance of the key' },
  tierRequired: { ...integer, description: 'Of a path that needs a higher tier' },
};

export const usage = object({
  tier,
  creditsPerMinute,
  step,
  by: { type: 'string', enum: USAGE_PARTS } as const,
  results: array(object(USAGE_COLUMNS), 'Newest first; of some seconds ago'),
  nextCursor: {
    ...nullableString,
    description: 'Where `limit` has cut the answer: as `cursor` it goes on after the last row; null at the end',
  },
});

const standing = {
  creditsPerMinute: integer,
  remaining: { ...integer, description: 'As a request would find it' },
  resetSeconds: { ...integer, description: 'Until the whole allowance is there again' },
};
export const usageNow = object({
  at: isoTime,
  tier,
  ...standing,
  keys: array(object({ id: string, name: string, ...standing }), 'Those with an allowance of their own'),
  writtenWithinSeconds: { ...integer, description: 'How far /api/usage may be behind' },
});

/** Calls a second or a minute. */
const rate = { type: 'number', minimum: 0, maximum: 1_000_000 } as const;
export const planRequest = {
  type: 'object',
  properties: {
    calls: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        type: 'object',
        properties: {
          method: { type: 'string', enum: ['GET', 'POST', 'PATCH', 'DELETE'], default: 'GET' },
          path: { type: 'string', minLength: 1, maxLength: 500, description: 'As in /api/, or an address' },
          rpc: { type: 'string', minLength: 1, maxLength: 64, description: 'Instead of a path: a JSON-RPC method' },
          perSecond: rate,
          perMinute: rate,
        },
        additionalProperties: false,
      },
    },
  },
  required: ['calls'],
  additionalProperties: false,
} as const;

const nullableTier = { type: ['string', 'null'], enum: [...TIERS, null] } as const;
export const plan = object({
  calls: array(
    object({
      method: string,
      path: string,
      rpc: nullableString,
      credits: { ...integer, description: 'Of one call; of JSON-RPC with a key' },
      tier: { ...nullableTier, description: 'Lowest that may ask; null: without a key' },
      perMinute: { type: 'number' },
      creditsPerMinute: { ...integer, description: 'Rounded up' },
    }),
  ),
  creditsPerMinute: integer,
  requestsPerMinute: integer,
  withoutKey: { ...boolean, description: 'Whether it fits without a key, by the requests and credits of a network' },
  tiers: array(
    object({
      tier,
      creditsPerMinute,
      fits: boolean,
      lacks: { type: ['string', 'null'], enum: ['credits', 'tier', null] } as const,
    }),
    'Each tier, the lowest first',
  ),
});
