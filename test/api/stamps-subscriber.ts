/** Subscribers that receive everything up to the end of the topics of stamps. */
import { expect } from 'vitest';
import { decodePlaces, encodePlaces, feedKey, lacksSnapshot } from '../../api/push/cursor.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { StreamReader } from './stream-reader.ts';
import type { LooseJson } from './truth.ts';

/** The cursor of a client that wants everything in the log. */
export function beginningOf(chains: readonly string[]): string {
  const feeds = chains.flatMap((chain) => [feedKey('facts', chain), feedKey('stamps', chain)]);
  return encodePlaces(new Map(feeds.map((key) => [key, { position: 0, index: 0 }])));
}

/** Reads a subscription until it has received every record of stamps; calls `take` with each message. */
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

/** Holds the prices and values that the stream has sent, like a client that returns with its cursor. */
export function createSubscriber(log: EventLog, chains: readonly string[]) {
  const rows = new Map<string, LooseJson>();
  const types = new Set<string>();
  let cursor = beginningOf(chains);
  const keyOf = (chain: string, { currencyId, height, txid, vout }: LooseJson) =>
    txid === undefined ? `${chain} ${currencyId} ${height}` : `${chain} ${txid}:${vout}`;

  function take({ type, chain, data }: LooseJson): void {
    types.add(type);
    const [was, now] = type.endsWith('_correction') ? [data.was, data.now] : [null, data];
    if (was) {
      expect(rows.get(keyOf(chain, was))).toEqual(was);
      rows.delete(keyOf(chain, was));
    }
    if (now) rows.set(keyOf(chain, now), now);
  }

  return {
    rows,
    types,
    /** Reads until it has received every record. */
    async follow(port: number): Promise<void> {
      const wish = { channels: ['prices', 'conversions'], filter: { minUsd: 0 }, cursor };
      await hearAll({ log, port, chains }, wish, (message) => {
        if ('data' in message) take(message);
        cursor = message.cursor;
      });
    },
  };
}
