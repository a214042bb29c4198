/** Schemas of the service itself: index, health, errors, sync state. */
import {
  array,
  boolean,
  integer,
  isoTime,
  nullableInteger,
  nullableString,
  object,
  openObject,
  string,
} from '../../schema/json-schema.ts';

export const apiIndex = object({
  name: string,
  version: string,
  chains: array(string),
  recordings: array(
    object({ chain: string, text: string, tip: { ...integer, description: 'Height at which the recording ends' } }),
    'Chains that are bundled recordings instead of live chains; empty unless the service runs as a demo',
  ),
  endpoints: array(object({ method: string, path: string, description: string, credits: integer })),
  docs: string,
});

export const apiErrors = object({
  errors: array(object({ code: string, status: integer, title: string, meaning: string })),
});

export const apiDocument = openObject({
  openapi: { type: 'string', pattern: '^3\\.1\\.' },
  info: openObject({ title: string, version: string }),
  paths: { type: 'object' },
  components: { type: 'object' },
});

export const asyncDocument = openObject({
  asyncapi: { type: 'string', pattern: '^3\\.0\\.' },
  info: openObject({ title: string, version: string }),
  channels: { type: 'object' },
  operations: { type: 'object' },
});

export const health = object({ status: { type: 'string', enum: ['ok', 'degraded'] } });

const reasonMembers = {
  code: string,
  chain: { ...nullableString, description: 'Null: every chain' },
  stage: nullableString,
  cause: { ...nullableString, description: 'Error code of a stage that waits or has stopped' },
  detail: string,
  etaSeconds: {
    ...nullableInteger,
    description: 'Seconds until it has caught up, by the rate of the last half minute; null while unknown',
  },
};
const goneSince = {
  ...isoTime,
  type: ['string', 'null'],
  description: 'When the cause ended; the reason stays listed for 10 s after that. Null while the cause lasts',
} as const;
export const readiness = object({
  status: { type: 'string', enum: ['ready', 'not_ready'] },
  reasons: array(object({ ...reasonMembers, goneSince })),
  notes: array(object(reasonMembers), 'Conditions worth knowing that do not affect readiness'),
});

export const syncState = object({
  chain: string,
  height: { ...nullableInteger, description: 'Newest block of the daemon; null before the daemon was first asked' },
  indexedHeight: nullableInteger,
  transactions: integer,
  synced: boolean,
  updatedAt: { ...isoTime, type: ['string', 'null'], description: 'Arrival of the newest block' },
});
