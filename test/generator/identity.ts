/** The current state of an identity. */
import { NATIVE } from './addresses.ts';
import type { Coin } from './coins.ts';
import type { Currency } from './currency.ts';
import { text, texts } from './print.ts';

export const ACTIVE_CURRENCY = 0x1;
export const LOCKED = 0x2;
export const REVOKED = 0x8000;

export interface GeneratedIdentity {
  readonly name: string;
  readonly flags: number;
  readonly primaryAddresses: readonly string[];
  readonly minimumSignatures: number;
  /** JSON of contentmap and contentmultimap. */
  readonly contentMap: string;
  readonly contentMultimap: string;
  readonly revocationAuthority: string;
  readonly recoveryAuthority: string;
  readonly privateAddress: string | null;
  readonly timelock: number;
}

export interface Identity {
  readonly address: string;
  /** i-address of the chain or of a currency. */
  readonly parent: string;
  /** Its referrer, the referrer of that identity, and so on, nearest first. */
  readonly referrers: readonly string[];
  state: GeneratedIdentity;
  /** Its newest identityprimary output. */
  coin: Coin;
}

/** A name that is committed to, but not registered yet. */
export interface Commitment {
  readonly coin: Coin;
  readonly name: string;
  /** Null: the chain itself. */
  readonly parent: Currency | null;
  readonly referrer: Identity | null;
  readonly salt: string;
  readonly height: number;
}

/** The identityprimary object. */
export function identityObject(address: string, parent: string, state: GeneratedIdentity): string {
  const { privateAddress } = state;
  return (
    `{"version":3,"flags":${state.flags},"primaryaddresses":${texts(state.primaryAddresses)},` +
    `"minimumsignatures":${state.minimumSignatures},"name":${text(state.name)},"identityaddress":"${address}",` +
    `"parent":"${parent}","systemid":"${NATIVE}","contentmap":${state.contentMap},` +
    `"contentmultimap":${state.contentMultimap},"revocationauthority":"${state.revocationAuthority}",` +
    `"recoveryauthority":"${state.recoveryAuthority}",` +
    `${privateAddress === null ? '' : `"privateaddress":"${privateAddress}",`}"timelock":${state.timelock}}`
  );
}

export const identityAddresses = (address: string, state: GeneratedIdentity): readonly string[] => [
  address,
  state.revocationAuthority,
  state.recoveryAuthority,
];

/** The identityreservation object of a registration. */
export function reservationObject({ name, parent, salt, referrer }: Commitment, nameId: string): string {
  const members = [
    '"version":1',
    `"name":${text(name)}`,
    `"parent":"${parent?.id ?? NATIVE}"`,
    `"salt":"${salt}"`,
    `"referral":"${referrer?.address ?? ''}"`,
    `"nameid":"${nameId}"`,
  ];
  return `{${members.join(',')}}`;
}
