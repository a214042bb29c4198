/** The effect of waiting transactions on an address. */
import type { ActivityFact } from '../../../schemas/facts.ts';
import { coins } from '../../http/values.ts';
import { waitingOfAddress } from '../../mempool/by-subject.ts';
import type { MempoolJournal } from '../../mempool/journal.ts';
import { standingOf } from '../../mempool/standing.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { currencyAmounts } from '../transactions/amounts.ts';
import { MOST_COUNTED, MOST_WAITING } from './schema.ts';

export async function waitingAtAddress(
  journal: MempoolJournal,
  address: string,
  { read, chain, currencies }: { read: Snapshot; chain: string; currencies: Currencies },
) {
  const waitingThere = waitingOfAddress(journal, address);
  const standing = await standingOf(read, chain, waitingThere.slice(-MOST_COUNTED));
  const moved = standing.flatMap((waiting) => {
    const activity = waiting.transaction.activity.find((one) => one.address === address);
    return activity ? [{ waiting, activity }] : [];
  });
  const newest = moved.slice(-MOST_WAITING).reverse();
  return {
    txCount: moved.length,
    ...flowsOf(
      moved.map(({ activity }) => activity),
      currencies,
    ),
    truncated: journal.last?.truncated === true || waitingThere.length > MOST_COUNTED,
    transactions: newest.map(({ waiting: { transaction, seenAt }, activity }) => ({
      txid: transaction.txid,
      seenAt,
      type: transaction.kind,
      ...flowsOf([activity], currencies),
    })),
  };
}

function flowsOf(activities: readonly ActivityFact[], currencies: Currencies) {
  let [received, sent] = [0n, 0n];
  const nets = new Map<string, bigint>();
  for (const activity of activities) {
    received += activity.received;
    sent += activity.sent;
    for (const [currencyId, flow] of Object.entries(activity.currencies)) {
      nets.set(currencyId, (nets.get(currencyId) ?? 0n) + flow.received - flow.sent);
    }
  }
  const flows = { received: coins(received), sent: coins(sent), net: coins(received - sent) };
  return { ...flows, currencies: currencyAmounts([...nets], currencies) };
}
