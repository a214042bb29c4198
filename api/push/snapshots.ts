/**
 * Snapshots of the state, shared: all clients that ask for the same channels at the same state get the same rows. Memory is bounded, over
 * all and for each network: beyond it a client has to wait until others have had theirs.
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
  /** Where the events that follow it begin. */
  readonly places: FeedPlaces;
  /** Call it once, when it has been sent. */
  release(): void;
}

/**
 * Null while there is no room for another: ask again later. Rejects with SubscriptionRefused when it is too large, and with errors of
 * the stores.
 */
export type TakeSnapshot = (channels: ReadonlySet<SnapshotChannel>, network: string) => Promise<TakenSnapshot> | null;

export interface TakeSnapshotOptions {
  readonly chains: readonly EventChain[];
  readonly feeds: readonly ChainFeed[];
  readonly topics: Pick<TopicReader, 'read'>;
  readonly withSnapshot: WithSnapshot;
  readonly state: () => ServiceState;
}

/** Rows of all snapshots in memory: about 100 MB. */
const MOST_ROWS = 100_000;
/** Rows of those that a network, or an IPv6 /48, is being sent: no single one can make others wait. */
const MOST_ROWS_OF_NETWORK = MOST_ROWS / 4;

/** A snapshot in memory, or one that is still being read: that counts as the largest allowed. */
interface Shared {
  /** The state's; its tag says nothing of the stamps that were published. */
  version: string | null;
  rows: number;
  /** By network: clients that are being sent it, or wait for it. */
  readonly clients: Map<string, number>;
  readonly content: Promise<{ readonly lists: readonly SnapshotList[]; readonly places: FeedPlaces }>;
}

const sumOf = (all: Iterable<Shared>): number => [...all].reduce((sum, { rows }) => sum + rows, 0);

export function createSnapshots({ chains, feeds, topics, withSnapshot, state }: TakeSnapshotOptions): TakeSnapshot {
  /** By channels: the newest, or the one that is being read. */
  const newest = new Map<string, Shared>();
  /** Those with clients; older ones than the newest are among them. */
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

  /** Forgets what no client is being sent, where the room is needed. */
  function makeRoom(): boolean {
    for (const [key, shared] of newest) {
      if (sumOf(new Set([...inUse, ...newest.values()])) + MOST_SNAPSHOT_ROWS <= MOST_ROWS) return true;
      if (!inUse.has(shared)) newest.delete(key);
    }
    return sumOf(inUse) + MOST_SNAPSHOT_ROWS <= MOST_ROWS;
  }

  /** Charged before it is read. */
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
