/**
 * Shared snapshots of the state: all clients that ask for the same channels at the same state get the same rows. Memory is bounded in
 * total and per network; beyond the bounds a client waits until others have received their snapshots.
 */
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import { allocationOf } from '../access/visitor.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { WithSnapshot } from '../state/snapshot.ts';
import type { ChainFeed } from './chain-feed.ts';
import type { FeedPlaces } from './cursor.ts';
import type { EventChain } from './events-of-record.ts';
import { MOST_SNAPSHOT_ROWS, readSnapshotLists, type SnapshotChannel, type SnapshotList } from './snapshot-rows.ts';

export interface TakenSnapshot {
  readonly lists: readonly SnapshotList[];
  readonly rows: number;
  /** Places at which the events after the snapshot start. */
  readonly places: FeedPlaces;
  /** Call it once, when it has been sent. */
  release(): void;
}

/**
 * Returns null while there is no room for another snapshot: try again later. Rejects with SubscriptionRefused if it is too large, and
 * with errors of the stores.
 */
export type TakeSnapshot = (channels: ReadonlySet<SnapshotChannel>, network: string) => Promise<TakenSnapshot> | null;

export interface TakeSnapshotOptions {
  readonly chains: readonly EventChain[];
  readonly feeds: readonly ChainFeed[];
  readonly topics: Pick<TopicReader, 'read'>;
  readonly withSnapshot: WithSnapshot;
  readonly state: () => ServiceState;
}

/** Most rows of all snapshots in memory: about 100 MB. */
const MOST_ROWS = 100_000;
/** Most rows of the snapshots being sent to a network, or an IPv6 /48, so that no single network makes the others wait. */
const MOST_ROWS_OF_NETWORK = MOST_ROWS / 4;

/** A snapshot in memory; while it is being read, it counts as the largest allowed. */
interface Shared {
  /** Version of the state, since its tag does not include the published stamps; null while the snapshot is being read. */
  version: string | null;
  rows: number;
  /** By network: number of clients that are being sent the snapshot, or wait for it. */
  readonly clients: Map<string, number>;
  readonly content: Promise<{ readonly lists: readonly SnapshotList[]; readonly places: FeedPlaces }>;
}

const sumOf = (all: Iterable<Shared>): number => [...all].reduce((sum, { rows }) => sum + rows, 0);

export function createSnapshots({ chains, feeds, topics, withSnapshot, state }: TakeSnapshotOptions): TakeSnapshot {
  /** By channels: the newest snapshot, or the one that is being read. */
  const newest = new Map<string, Shared>();
  /** Snapshots with clients, including older ones than the newest. */
  const inUse = new Set<Shared>();

  async function read(channels: ReadonlySet<SnapshotChannel>) {
    const taken = await withSnapshot(async (reading) => {
      const lists = await readSnapshotLists(reading, topics, chains, channels);
      return { lists, state: reading.state };
    });
    const places = new Map<string, { position: number; index: number }>();
    for (const feed of feeds) places.set(feed.key, { position: await feed.headIn(taken.state), index: 0 });
    return { version: taken.state.version, lists: taken.lists, places };
  }

  function mayHold(network: string, rows: number): boolean {
    const ofNetwork = [...inUse].filter(({ clients }) => clients.has(network));
    return sumOf(ofNetwork) + rows <= MOST_ROWS_OF_NETWORK;
  }

  /** Drops snapshots without clients if their room is needed. Returns whether there is room for another one. */
  function makeRoom(): boolean {
    for (const [key, shared] of newest) {
      if (sumOf(new Set([...inUse, ...newest.values()])) + MOST_SNAPSHOT_ROWS <= MOST_ROWS) return true;
      if (!inUse.has(shared)) newest.delete(key);
    }
    return sumOf(inUse) + MOST_SNAPSHOT_ROWS <= MOST_ROWS;
  }

  /** Starts to read a snapshot, which counts against the bounds from now on. */
  function begin(key: string, channels: ReadonlySet<SnapshotChannel>): Shared {
    const shared: Shared = {
      version: null,
      rows: MOST_SNAPSHOT_ROWS,
      clients: new Map(),
      content: read(channels).then(
        ({ version, lists, places }) => {
          shared.version = version;
          shared.rows = lists.reduce((sum, { rows }) => sum + rows.length, 0);
          return { lists, places };
        },
        (error: unknown) => {
          if (newest.get(key) === shared) newest.delete(key);
          throw error;
        },
      ),
    };
    newest.set(key, shared);
    return shared;
  }

  return (channels, client) => {
    const network = allocationOf(client) ?? client;
    const key = [...channels].sort().join();
    const known = newest.get(key);
    const isCurrent = known !== undefined && (known.version === null || known.version === state().version);
    if (!isCurrent && !(mayHold(network, MOST_SNAPSHOT_ROWS) && makeRoom())) return null;
    if (isCurrent && !known.clients.has(network) && !mayHold(network, known.rows)) return null;
    const shared = isCurrent ? known : begin(key, channels);
    shared.clients.set(network, (shared.clients.get(network) ?? 0) + 1);
    inUse.add(shared);
    const release = () => {
      const left = (shared.clients.get(network) ?? 1) - 1;
      if (left > 0) shared.clients.set(network, left);
      else shared.clients.delete(network);
      if (shared.clients.size === 0) inUse.delete(shared);
    };
    return shared.content.then(
      ({ lists, places }) => ({ lists, rows: shared.rows, places, release }),
      (error: unknown) => {
        release();
        throw error;
      },
    );
  };
}
