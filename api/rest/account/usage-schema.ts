/** Schemas of usage, of remaining allowances, and of the cost of a plan. */
import { TIERS } from '../../../schemas/config.ts';
import { USAGE_PARTS } from '../../access/read-usage.ts';
import { USAGE_STEPS } from '../../access/usage-steps.ts';
import { array, boolean, integer, isoTime, nullableString, object, string } from '../../schema/json-schema.ts';
import { creditsPerMinute, tier } from './schema.ts';

const step = { type: 'string', enum: USAGE_STEPS } as const;

export const USAGE_COLUMNS = {
  at: { ...isoTime, description: 'Start of the step, UTC' },
  keyId: { ...nullableString, description: '`session` for the sessions of the identity; null when rows are by route' },
  route: {
    ...nullableString,
    description:
      'Pattern; `none` if no route matched; empty for requests counted before 0.4.0; null when rows are by key',
  },
  requests: integer,
  credits: { ...integer, description: 'Credits of the accepted requests, exactly' },
  refused: { ...integer, description: 'Refused requests: the sum of the next three' },
  rateLimited: { ...integer, description: 'Beyond the allowance of the identity' },
  keyLimited: { ...integer, description: 'Beyond the allowance of the key' },
  tierRequired: { ...integer, description: 'To a path that needs a higher tier' },
};

export const usage = object({
  tier,
  creditsPerMinute,
  step,
  by: { type: 'string', enum: USAGE_PARTS } as const,
  results: array(object(USAGE_COLUMNS), 'Newest first; some seconds late'),
  nextCursor: {
    ...nullableString,
    description: 'Pass it as `cursor` to continue after the last row; null at the end',
  },
});

const standing = {
  creditsPerMinute: integer,
  remaining: { ...integer, description: 'Credits that a request would find now' },
  resetSeconds: { ...integer, description: 'Until the whole allowance is available again' },
};
export const usageNow = object({
  at: isoTime,
  tier,
  ...standing,
  keys: array(object({ id: string, name: string, ...standing }), 'Keys with a limit of their own'),
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
          path: {
            type: 'string',
            minLength: 1,
            maxLength: 500,
            description: 'A pattern as in /api/, or a concrete path',
          },
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
      credits: { ...integer, description: 'Of one call; JSON-RPC costs credits only with a key' },
      tier: { ...nullableTier, description: 'Lowest tier that may call it; null: no key needed' },
      perMinute: { type: 'number' },
      creditsPerMinute: { ...integer, description: 'Rounded up' },
    }),
  ),
  creditsPerMinute: integer,
  requestsPerMinute: integer,
  withoutKey: {
    ...boolean,
    description: 'Whether the plan fits within the requests and credits that a network has without a key',
  },
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
