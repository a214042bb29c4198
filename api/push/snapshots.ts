/**
 * Snapshots of the state, shared: all clients that ask for the same channels at the same state get the same rows. Memory is bounded over
 * all that are being sent: beyond it a client waits until others have had theirs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import { createFlights } from '../../infra/shared.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { WithSnapshot } from '../state/snapshot.ts';
import type { ChainFeed } from './chain-feed.ts';
import type { FeedPlaces } from './cursor.ts';
import type { EventChain } from './events-of-record.ts';
import { readSnapshotLists, type SnapshotChannel, type SnapshotList } from './snapshot-rows.ts';

export interface TakenSnapshot {
  readonly lists: readonly SnapshotList[];
  readonly rows: number;
  /** Where the events that follow it begin. */
  readonly places: FeedPlaces;
  /** Call it once, when it has been sent. */
  release(): void;
}

/** @throws SubscriptionRefused when it is too large; errors of the stores */
export type TakeSnapshot = (channels: ReadonlySet<SnapshotChannel>, signal: AbortSignal) => Promise<TakenSnapshot>;

export interface TakeSnapshotOptions {
  readonly chains: readonly EventChain[];
  readonly feeds: readonly ChainFeed[];
  readonly topics: Pick<TopicReader, 'read'>;
  readonly withSnapshot: WithSnapshot;
  readonly state: () => ServiceState;
}

/** Rows of all snapshots that are being sent: about 100 MB. */
const MOST_ROWS_HELD = 100_000;
const WAIT_MS = 50;

interface Shared {
  /** The state's; its tag says nothing of the stamps that were published. */
  readonly version: string;
  readonly lists: readonly SnapshotList[];
  readonly rows: number;
  readonly places: FeedPlaces;
  clients: number;
}

export function createSnapshots({ chains, feeds, topics, withSnapshot, state }: TakeSnapshotOptions): TakeSnapshot {
  const flights = createFlights<string, Shared>();
  /** By channels: the newest, and older ones that are still being sent. */
  const newest = new Map<string, Shared>();
  const sending = new Set<Shared>();

  async function read(channels: ReadonlySet<SnapshotChannel>): Promise<Shared> {
    const taken = await withSnapshot(async (reading) => {
      const lists = await readSnapshotLists(reading, topics, chains, channels);
      return { lists, state: reading.state };
    });
    const places = new Map<string, { position: number; index: number }>();
    for (const feed of feeds) places.set(feed.key, { position: await feed.headIn(taken.state), index: 0 });
    const rows = taken.lists.reduce((sum, list) => sum + list.rows.length, 0);
    return { version: taken.state.version, lists: taken.lists, rows, places, clients: 0 };
  }

  const held = () => [...sending].reduce((sum, { rows }) => sum + rows, 0);

  return async (channels, signal) => {
    const key = [...channels].sort().join();
    for (;;) {
      signal.throwIfAborted();
      let shared = newest.get(key);
      if (shared?.version !== state().version) {
        if (held() >= MOST_ROWS_HELD) {
          await sleep(WAIT_MS, undefined, { signal });
          continue;
        }
        shared = await flights(key, () => read(channels));
        newest.set(key, shared);
        signal.throwIfAborted();
      }
      const { lists, rows, places } = shared;
      const own = shared;
      own.clients += 1;
      sending.add(own);
      return {
        lists,
        rows,
        places,
        release() {
          own.clients -= 1;
          if (own.clients === 0) sending.delete(own);
        },
      };
    }
  };
}
