/** A subscription, up to the end of the topics of stamps. */
import { decodePlaces, feedKey, lacksSnapshot } from '../../api/push/cursor.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { StreamReader } from './stream-reader.ts';
import type { LooseJson } from './truth.ts';

/** Hears a subscription until it has had every record of stamps; `take` gets each message. */
export async function hearAll(
  { log, port, chains }: { readonly log: EventLog; readonly port: number; readonly chains: readonly string[] },
  wish: object,
  take: (message: LooseJson) => void,
): Promise<void> {
  const ends = await Promise.all(chains.map(async (name) => (await log.last('stamps', name))?.position ?? -1));
  const reader = new StreamReader(port);
  await reader.opened();
  reader.send({ op: 'subscribe', id: 1, ...wish });
  const messages = await reader.until((message) => {
    if (lacksSnapshot(message.cursor)) return false;
    const places = decodePlaces(message.cursor);
    return chains.every((name, index) => {
      return (places.get(feedKey('stamps', name))?.position ?? -1) > (ends[index] ?? -1);
    });
  });
  await reader.close();
  for (const message of messages) take(message);
}
