/** Login, keys and usage. */
import { array, integer, isoTime, object, string } from '../../schema/json-schema.ts';

const tier = { type: 'string', enum: ['free', 'developer', 'pro'] } as const;
const nullableTime = { ...isoTime, type: ['string', 'null'] } as const;
const identity = { ...string, description: 'Fully qualified name with @' } as const;

export const challengeRequest = {
  type: 'object',
  properties: {
    identity: { type: 'string', minLength: 1, maxLength: 256, description: 'Name with @, or i-address' },
    chain: { type: 'string', maxLength: 32, description: 'Short name of a configured chain; the first one by default' },
  },
  required: ['identity'],
  additionalProperties: false,
} as const;

export const challenge = object({
  challengeId: string,
  message: string,
  command: { ...string, description: 'Line for the command line of a wallet that holds the keys' },
  expiresAt: isoTime,
});

export const loginRequest = {
  type: 'object',
  properties: {
    challengeId: { type: 'string', minLength: 1, maxLength: 64 },
    signature: { type: 'string', minLength: 1, maxLength: 8_000, description: 'Base64, as signmessage prints it' },
  },
  required: ['challengeId', 'signature'],
  additionalProperties: false,
} as const;

const session = { expiresAt: isoTime, identity, identityAddress: string, chain: string };
export const login = object({
  token: { ...string, description: 'For Authorization: Bearer on the paths of keys and usage; shown once' },
  ...session,
});
export const sessionState = object({ ...session, tier });

export const DEFAULT_NAME = 'key';
export const keyRequest = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1, maxLength: 64, default: DEFAULT_NAME } },
  additionalProperties: false,
} as const;

const key = { id: string, name: string, createdAt: isoTime, regeneratedAt: nullableTime };
export const keyList = object({ tier, keys: array(object(key)) });
export const issuedKey = object({ ...key, key: { ...string, description: 'Shown once' } });

export const usage = object({
  tier,
  creditsPerMinute: integer,
  results: array(
    object(
      {
        keyId: string,
        minute: isoTime,
        requests: integer,
        credits: { ...integer, description: 'Accepted ones' },
        refused: { ...integer, description: 'Requests that were too many' },
      },
      'Newest first; of some seconds ago',
    ),
  ),
  nextCursor: {
    ...string,
    type: ['string', 'null'],
    description: 'Where `limit` has cut the answer: as `cursor` it goes on after the last row; null at the end',
  },
});

export const nothing = { type: 'null', description: 'No body' } as const;
