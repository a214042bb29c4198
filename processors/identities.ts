/** States of identities: each identityprimary output carries the whole identity and replaces the one before. */
import { parseExact, stringifyExact } from '../schemas/exact-json.ts';
import type { IdentityFact } from '../schemas/facts.ts';
import type { DaemonTransaction } from '../schemas/verusd/block.ts';
import type { BlockInput, ChainState } from './chain-state.ts';
import { asInteger, asObject, asText, asTexts, type DecodedObject, decodedObject } from './decoded-object.ts';
import { identityChangeKind } from './identity-change-kind.ts';
import { qualifiedIdentityName } from './qualified-names.ts';

interface FieldChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** In order of transaction and output; of several updates in one block each is compared with the one right before it. */
export function deriveIdentities(input: BlockInput, state: ChainState): IdentityFact[] {
  const inBlock = new Map<string, IdentityFact>();
  const facts: IdentityFact[] = [];
  input.block.tx.forEach((tx, txIndex) => {
    const referrals = referralsOf(tx);
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
        referral: before ? before.referral : (referrals.get(identityAddress) ?? null),
      });
      inBlock.set(identityAddress, fact);
      facts.push(fact);
    }
  });
  return facts;
}

type Origin = Pick<IdentityFact, 'txid' | 'txIndex' | 'vout' | 'registeredHeight' | 'referral'>;

function identityFact(
  decoded: DecodedObject,
  identityAddress: string,
  before: IdentityFact | undefined,
  state: ChainState,
  origin: Origin,
): IdentityFact {
  const name = asText(decoded.name) ?? '';
  const parent = asText(decoded.parent) ?? '';
  const after = {
    flags: asInteger(decoded.flags) ?? 0,
    timelock: asInteger(decoded.timelock) ?? 0,
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
    kind: identityChangeKind(before ?? null, after, new Set(changes.map(({ field }) => field))),
    ...after,
    ...origin,
    changes: stringifyExact(changes),
    state: stringifyExact(decoded),
  };
}

/** i-address → referrer, of the names that the transaction registers with one. */
function referralsOf(tx: DaemonTransaction): ReadonlyMap<string, string> {
  const referrals = new Map<string, string>();
  for (const { scriptPubKey } of tx.vout) {
    const reservation = decodedObject(scriptPubKey, 'identityreservation');
    const nameId = asText(reservation?.nameid);
    const referral = asText(reservation?.referral);
    if (nameId !== undefined && referral) referrals.set(nameId, referral);
  }
  return referrals;
}

/** Fields of the daemon's object that differ, in its order; null for one that is missing on a side. */
function fieldChanges(before: DecodedObject, after: DecodedObject): FieldChange[] {
  const fields = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...fields].flatMap((field) => {
    const change = { field, old: before[field] ?? null, new: after[field] ?? null };
    return stringifyExact(change.old) === stringifyExact(change.new) ? [] : [change];
  });
}
