/** The definition of what a subscriber with confirmations receives, computed from the records alone. */
import type { FeedRecord } from '../../../../api/push/chain-feed.ts';
import type { PushEvent } from '../../../../api/push/push-event.ts';

/** Events by record; without confirmations, the events of the records themselves. */
export function heldBack(records: readonly FeedRecord[], confirmations: number): PushEvent[][] {
  if (confirmations === 0) return records.map(({ events }) => [...events]);
  let held: { readonly height: number; readonly events: readonly PushEvent[] }[] = [];
  let delivered = -1;
  const heardOf = ({ change: { kind, height }, events }: FeedRecord): readonly PushEvent[] => {
    if (kind === 'rewind') {
      held = held.filter((one) => one.height <= height);
      if (height >= delivered) return [];
      const fromHeight = delivered;
      delivered = height;
      return events.map((event) => withData(event, JSON.stringify({ ...JSON.parse(event.data()), fromHeight })));
    }
    if (kind === 'correction' && height <= delivered) return events;
    held.push({ height, events });
    if (kind === 'correction') return [];
    const confirmed = height - confirmations;
    const due = held.filter((one) => one.height <= confirmed);
    held = held.filter((one) => one.height > confirmed);
    delivered = Math.max(delivered, confirmed);
    return due.flatMap((one) => one.events);
  };
  return records.map((record) =>
    heardOf(record).map((event, number) => {
      const index = confirmations * 2 ** 32 + number;
      return { ...event, place: { position: record.position, index } };
    }),
  );
}

const withData = (event: PushEvent, data: string): PushEvent => ({
  ...event,
  data: () => data,
  tail: () => `,"data":${data}}`,
});
