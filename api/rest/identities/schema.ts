/** Schemas of identities. Members that the daemon also prints keep its names; the rest have names of our own. */
import { IDENTITY_STATUSES } from '../../../domain/identity-status.ts';
import { IDENTITY_CHANGE_KINDS } from '../../../schemas/facts.ts';
import { seenAt } from '../../mempool/transaction-schema.ts';
import {
  array,
  boolean,
  coins,
  hash,
  height,
  integer,
  nullableHash,
  nullableInteger,
  nullableString,
  object,
  openObject,
  page,
  string,
  unixTime,
  withOptional,
} from '../../schema/json-schema.ts';

const status = { type: 'string', enum: IDENTITY_STATUSES } as const;
const anyObject = { type: 'object' } as const;
const place = { txid: hash, height, time: unixTime } as const;

export const identityRow = object({
  identityAddress: string,
  name: string,
  fullyQualifiedName: string,
  parent: string,
  parentName: nullableString,
  chain: string,
  flags: integer,
  status,
  height: { ...height, description: 'Height of the newest update' },
  registeredAt: { ...height, description: 'Height of the registration' },
});

const detail = openObject({
  name: string,
  parent: string,
  identityaddress: string,
  primaryaddresses: array(string),
  minimumsignatures: integer,
  revocationauthority: string,
  recoveryauthority: string,
  flags: integer,
  timelock: integer,
  contentmultimap: anyObject,
  contentmap: anyObject,
  chain: string,
  fullyQualifiedName: string,
  friendlyName: string,
  parentName: nullableString,
  status,
  unlockHeight: { ...nullableInteger, description: 'While unlocking: the last locked height' },
  lastUpdate: object(place),
  registration: object({
    ...place,
    referral: nullableString,
    referralName: nullableString,
    commitmentTxid: {
      ...nullableHash,
      description: 'Transaction of the name commitment that the registration spent; null without a reservation',
    },
    cost: {
      ...array(object({ currencyId: string, currencyName: nullableString, amount: coins })),
      description: 'Paid to parent, referrers and miners',
    },
  }),
  isCurrency: boolean,
  isTokenControlled: {
    ...boolean,
    description: 'Whether the holder of its one token may revoke and recover the identity',
  },
  blocksToUnlock: {
    ...nullableInteger,
    description:
      'Locked: blocks to wait after an unlock, at least; unlocking: blocks left; null when revoked or unlocked',
  },
  subIdCount: integer,
});

const change = {
  kind: { type: 'string', enum: IDENTITY_CHANGE_KINDS },
  changes: array(object({ field: string, old: {}, new: {} })),
} as const;

/** Most waiting updates of one identity in an answer. */
export const MOST_UPDATES = 20;

const waitingUpdate = object({
  txid: hash,
  seenAt,
  ...change,
  state: { ...anyObject, description: 'The identity after the update' },
});

export const identityDetail = withOptional(detail, {
  unconfirmed: array(
    waitingUpdate,
    `With unconfirmed=true: updates in the mempool, oldest first, at most ${MOST_UPDATES}; unconfirmed registrations are in /api/mempool/`,
  ),
});

const identityChange = object({
  ...place,
  ...change,
});
/** A page if the request has `page`, `pageSize` or `cursor`; otherwise a plain list. */
export const identityChanges = { anyOf: [array(identityChange), page(identityChange)] } as const;

export const identityEvent = object({
  identityAddress: string,
  name: string,
  fullyQualifiedName: string,
  parent: string,
  ...place,
  kind: { type: 'string', enum: IDENTITY_CHANGE_KINDS },
  fields: array(string, 'Names of the changed fields; /api/identity/:nameOrId/changes has their values'),
});

export const identityMultimap = object({
  identityAddress: string,
  height: { ...height, description: 'Height that the content is of' },
  mode: { type: 'string', enum: ['latest', 'aggregate'] },
  contentmultimap: anyObject,
  decoded: {
    type: 'object',
    description:
      'Texts, messages of data descriptors, and values whose bytes are UTF-8 JSON of at most 64 levels, parsed; others are left out',
  },
});

const referral = {
  identityAddress: string,
  name: string,
  level: { type: 'integer', minimum: 1, maximum: 3 },
  height,
  children: { type: 'array' },
} as const;

export const identityReferrals = object({
  identity: object({ identityAddress: string, name: string }),
  levels: { ...array(integer), description: 'Number of identities at level 1, 2 and 3' },
  total: integer,
  tree: array(object(referral)),
  subIds: array(object({ identityAddress: string, name: string, height })),
});

const counts = object({
  total: integer,
  registered30d: integer,
  revoked: integer,
  locked: integer,
  withContent: integer,
});
export const identityStats = object({ total: integer, chains: { type: 'object', additionalProperties: counts } });
