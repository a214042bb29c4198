import { type Defined, defineFact } from './definition.ts';
import { choice, hash, integer, json, nullable, text, texts, wideInteger } from './fields.ts';

export const IDENTITY_CHANGE_KINDS = [
  'registered',
  'recovered',
  'revoked',
  'locked',
  'unlock_requested',
  'unlocked',
  'authority_changed',
  'keys_changed',
  'currency_defined',
  'content_updated',
  'other',
] as const;
export type IdentityChangeKind = (typeof IDENTITY_CHANGE_KINDS)[number];

export const IDENTITY = defineFact({
  type: 'identity',
  fields: {
    identityAddress: text(),
    name: text(),
    parent: text(),
    /** With the root chain's name, without the final @: `alice.VRSC`. */
    fullyQualifiedName: text(),
    txid: hash(),
    vout: integer(),
    txIndex: integer(),
    kind: choice(IDENTITY_CHANGE_KINDS),
    flags: integer(),
    timelock: wideInteger(),
    revocationAuthority: text(),
    recoveryAuthority: text(),
    primaryAddresses: texts(),
    minimumSignatures: integer(),
    /** Height of the first state. */
    registeredHeight: integer(),
    /** i-address of the referrer, from the reservation; kept through later updates. */
    referral: nullable(text()),
    /** {commitmentTxid, cost: {i-address: "satoshis"}}; null except for the state that a reservation registered. */
    registration: nullable(json()),
    /** {key: [hash of each value]} in the shape of the content; null without content or when it cannot be read. */
    contentHashes: nullable(json()),
    /** Differences from the state before, [{field, old, new}]. */
    changes: json(),
    /** The `identityprimary` object as the daemon printed it. */
    state: json(),
  },
  key: ['identityAddress'],
  recalled: 'fact',
  postgres: { life: 'versions', table: 'identities', order: ['txIndex', 'vout'] },
  clickhouse: [
    {
      table: 'identity_updates',
      fields: [
        'identityAddress',
        'txIndex',
        'vout',
        'txid',
        'name',
        'parent',
        'kind',
        'flags',
        'timelock',
        'referral',
        'changes',
        'state',
      ],
      timed: true,
      audited: 'identity states',
    },
  ],
  published: true,
  unsaid: { registration: null, contentHashes: null },
});

export interface IdentityFact extends Defined<typeof IDENTITY> {}
