/** Schemas of login and of API keys. */
import { TIERS } from '../../../schemas/config.ts';
import { array, integer, isoTime, nullableInteger, nullableTime, object, string } from '../../schema/json-schema.ts';

export const KEY_ID = { type: 'string', pattern: '^[0-9a-f]{16}$' } as const;
export const tier = { type: 'string', enum: TIERS } as const;
export const creditsPerMinute = { ...integer, description: 'Allowance of the tier' } as const;
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
  command: { ...string, description: 'Command to run on the command line of a wallet that holds the keys' },
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
  token: { ...string, description: 'Sent as Authorization: Bearer to the paths of keys and usage; shown once' },
  ...session,
});
export const sessionState = object({ ...session, tier });

export const DEFAULT_NAME = 'key';
export const keyRequest = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 64, default: DEFAULT_NAME },
    creditsPerMinute: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Limit of this key, within the allowance of the identity: at most the credits of the tier',
    },
  },
  additionalProperties: false,
} as const;

const key = {
  id: string,
  name: string,
  creditsPerMinute: {
    ...nullableInteger,
    description: 'Limit of this key; null: only the allowance of the identity applies',
  },
  createdAt: isoTime,
  regeneratedAt: nullableTime,
  lastUsedAt: { ...nullableTime, description: 'Some seconds late; null for a key not used in the last 400 days' },
};
export const keyList = object({ tier, creditsPerMinute, keys: array(object(key)) });
export const issuedKey = object({ ...key, key: { ...string, description: 'Shown once' } });

export const nothing = { type: 'null', description: 'No body' } as const;
