/** States of identities: each identityprimary output carries the whole identity and replaces the state before it. */
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import type { IdentityFact } from '../../schemas/facts.ts';
import type { DaemonScript } from '../../schemas/verusd/block.ts';
import {
  asFlags,
  asInteger,
  asName,
  asObject,
  asText,
  asTexts,
  type DecodedObject,
  decodedObject,
} from '../decoding/decoded-object.ts';
import { qualifiedIdentityName } from '../decoding/qualified-names.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';
import { contentHashes } from './content-hashes.ts';
import { identityChangeKind } from './identity-change-kind.ts';
import { type IdentityRegistration, registrationsOf } from './registrations.ts';

interface FieldChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/**
 * In order of transaction and output; each of several updates in one block is compared with the update right before it. The
 * block's outputs must be applied to `state`, its spends not yet.
 */
export function deriveIdentities(input: BlockInput, state: ChainState): IdentityFact[] {
  const inBlock = new Map<string, IdentityFact>();
  const facts: IdentityFact[] = [];
  input.block.tx.forEach((tx, txIndex) => {
    const registrations = registrationsOf(tx, state);
    for (const { n: vout, scriptPubKey } of tx.vout) {
      const decoded = decodedObject(scriptPubKey, 'identityprimary');
      const identityAddress = asText(decoded?.identityaddress);
      if (!decoded || identityAddress === undefined) continue;
      const before = inBlock.get(identityAddress) ?? state.identity(identityAddress);
      const fact = identityFact(decoded, identityAddress, before, state, {
        txid: tx.txid,
        txIndex,
        vout,
        registeredHeight: before?.registeredHeight ?? input.block.height,
        ...origin(before ?? null, registrations.get(identityAddress) ?? null),
        contentHashes: hashesOf(decoded, scriptPubKey),
      });
      inBlock.set(identityAddress, fact);
      facts.push(fact);
    }
  });
  return facts;
}

type Origin = Pick<
  IdentityFact,
  'txid' | 'txIndex' | 'vout' | 'registeredHeight' | 'referral' | 'registration' | 'contentHashes'
>;

/** Later updates keep the referrer; only the first state has the registration. */
function origin(
  before: IdentityFact | null,
  registration: IdentityRegistration | null,
): Pick<IdentityFact, 'referral' | 'registration'> {
  if (before) return { referral: before.referral, registration: null };
  if (!registration) return { referral: null, registration: null };
  const { referral, commitmentTxid, cost } = registration;
  const amounts = Object.fromEntries(Object.entries(cost).map(([id, amount]) => [id, String(amount)]));
  return { referral, registration: JSON.stringify({ commitmentTxid, cost: amounts }) };
}

/** Returns null for an update without content, as most updates are. */
function hashesOf({ contentmultimap }: DecodedObject, { hex }: DaemonScript): string | null {
  if (hex === undefined || Object.keys(asObject(contentmultimap) ?? {}).length === 0) return null;
  const hashes = contentHashes(hex);
  return hashes && JSON.stringify(hashes);
}

function identityFact(
  decoded: DecodedObject,
  identityAddress: string,
  before: IdentityFact | undefined,
  state: ChainState,
  origin: Origin,
): IdentityFact {
  const name = asName(decoded.name) ?? '';
  const parent = asText(decoded.parent) ?? '';
  const after = {
    flags: asFlags(decoded.flags),
    timelock: unsigned(asInteger(decoded.timelock) ?? 0),
    revocationAuthority: asText(decoded.revocationauthority) ?? '',
    recoveryAuthority: asText(decoded.recoveryauthority) ?? '',
    primaryAddresses: asTexts(decoded.primaryaddresses),
    minimumSignatures: asInteger(decoded.minimumsignatures) ?? 0,
  };
  const changes = before ? fieldChanges(asObject(parseExact(before.state)) ?? {}, decoded) : [];
  return {
    type: 'identity',
    identityAddress,
    name,
    parent,
    fullyQualifiedName: qualifiedIdentityName(name, parent, state),
    kind: identityChangeKind(before ?? null, after, new Set(changes.filter(isOfValue).map(({ field }) => field))),
    ...after,
    ...origin,
    changes: stringifyExact(changes),
    state: stringifyExact(decoded),
  };
}

/** False for a map that only begins to be printed: the first update after version 2 prints an empty contentmultimap. */
function isOfValue({ old, new: now }: FieldChange): boolean {
  return ![old, now].every((side) => side === null || stringifyExact(side) === '{}');
}

/** The daemon keeps a timelock without a sign but prints it with one: a height of 2^31 or more is printed as a negative number. */
const unsigned = (printed: number): number => printed >>> 0;

/** Fields of the daemon's object that differ, in its order; a field that is missing on one side counts as null. */
function fieldChanges(before: DecodedObject, after: DecodedObject): FieldChange[] {
  const fields = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...fields].flatMap((field) => {
    const change = { field, old: before[field] ?? null, new: after[field] ?? null };
    return stringifyExact(change.old) === stringifyExact(change.new) ? [] : [change];
  });
}
