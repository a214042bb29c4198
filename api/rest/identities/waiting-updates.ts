/** Updates of an identity in the mempool. */

import { parseShallow } from '../../../domain/json/shallow-json.ts';
import type { StoredRow } from '../../../infra/row-reader.ts';
import { waitingOfIdentity } from '../../mempool/by-subject.ts';
import type { MempoolJournal } from '../../mempool/journal.ts';
import { standingOf } from '../../mempool/standing.ts';
import { readChanges } from '../../state/identity-changes.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { MOST_UPDATES } from './schema.ts';

/** Some of the oldest updates may have been mined since the journal's last poll, so read more than are shown. */
const MOST_LOOKED_AT = 2 * MOST_UPDATES;

export async function waitingUpdates(journal: MempoolJournal, identityAddress: string, read: Snapshot, chain: string) {
  const standing = await standingOf(read, chain, waitingOfIdentity(journal, identityAddress).slice(0, MOST_LOOKED_AT));
  const updates = standing.flatMap(({ transaction, seenAt }) =>
    transaction.identities.flatMap((identity) =>
      identity.identityAddress === identityAddress ? { identity, seenAt } : [],
    ),
  );
  return updates.slice(0, MOST_UPDATES).map(({ identity: { txid, kind, changes, state }, seenAt }) => {
    return { txid, seenAt, kind, changes: readChanges(changes), state: parseShallow(state) as StoredRow };
  });
}
