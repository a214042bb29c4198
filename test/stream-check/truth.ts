/** What happened, from the log of a program that has ended. */
import { eventsOfRecord } from '../../api/push/events-of-record.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';
import { factsTopic } from '../laws/topic.ts';
import type { Truth } from './check-history.ts';
import type { HeardEvent } from './history.ts';

/** Up to the blocks at `heights`, by chain, which come once and which all clients have heard of; `folder` is the log's. */
export async function readTruth(
  folder: string,
  heights: ReadonlyMap<string, number>,
): Promise<Pick<Truth, 'events' | 'ends'>> {
  const log = createEmbeddedEventLog({ folder });
  const events = new Map<string, HeardEvent[]>();
  const ends = new Map<string, number>();
  try {
    for (const [chain, end] of heights) {
      const records = (await factsTopic(log, chain)).map(({ payload }) => decodeFactsRecord(payload));
      const last = records.findIndex(({ kind, height }) => kind === 'facts' && height === end);
      if (last < 0) throw new Error(`${chain} has not come to block ${end}`);
      ends.set(chain, last);
      events.set(
        chain,
        records.slice(0, last).flatMap((record) =>
          eventsOfRecord(chain, record).map(({ place, type, tail }) => {
            const { data } = JSON.parse(`{"tail":true${tail()}`) as { data: unknown };
            return { chain, ...place, type, told: JSON.stringify(data) };
          }),
        ),
      );
    }
  } finally {
    await log.close();
  }
  return { events, ends };
}
