/** Limits of the push stream: per connection, per network, and in total. */
export const MAX_SUBSCRIPTIONS = 50;
export const MAX_MESSAGE_BYTES = 16 * 1024;
/**
 * Largest frame. A message that is too large gets an error if its frame is not larger than this; a larger frame is not read, and its
 * socket is closed. The received part of an unfinished frame is memory that no limit counts.
 */
export const MAX_FRAME_BYTES = MAX_MESSAGE_BYTES + 2 * 1024;
/** Names, ids and addresses in all filters of a connection, repeated ones included. */
export const MAX_FILTER_ENTRIES = 1_000;
/** Longest entry: a qualified name has a few labels of at most 64 bytes, a shielded address 78 characters. */
export const MAX_ENTRY_CHARACTERS = 255;
export const MAX_ENTRY_LABELS = 10;
/** Most work of one filter, see filterSize(). */
export const MAX_FILTER_WORK = 5_000;
/** Most bytes of answers, such as pongs, to a client whose socket accepts nothing. */
export const MAX_UNTAKEN_ANSWERS = 64 * 1024;

/** Work units of resuming from a cursor. */
export const CURSOR_WORK = 2;

/** Work units of a snapshot, and rows per further unit, whether the rows pass the filter or not. */
export const SNAPSHOT_WORK = 300;
export const ROWS_A_UNIT = 8;

/** Work units of sending all waiting transactions of the mempools. */
export function mempoolWork(transactions: number): number {
  return 1 + Math.ceil(transactions / 10);
}

/** Work units of a message before it is read: one, and one per KiB. */
export function messageWork(bytes: number): number {
  return 1 + Math.ceil(bytes / 1024);
}

/** A unit of work is at most 14 µs: half the time to hash a name of one label. */
export const WORK = {
  /** Units done without waiting for a network that has been quiet. */
  atOnce: 3_000,
  perMinute: 20_000,
  /** Units that may wait, a minute's worth; more are refused. */
  waiting: 20_000,
} as const;

export interface Holdings {
  readonly connections: number;
  readonly subscriptions: number;
  /** Memory of filters, as estimated by createSubscription(). */
  readonly bytes: number;
}

export const MAX_OF_NETWORK: Holdings = { connections: 1_000, subscriptions: 2_500, bytes: 8 * 1024 * 1024 };
/** Bounds of an IPv6 /48, which may belong to one customer: 65,536 networks. */
export const MAX_OF_ALLOCATION: Holdings = { connections: 4_000, subscriptions: 10_000, bytes: 32 * 1024 * 1024 };
export const MAX_OF_ALL: Holdings = { connections: 20_000, subscriptions: 50_000, bytes: 128 * 1024 * 1024 };
/** Bytes of messages that wait for their network's share of work. */
export const MAX_WAITING_BYTES = {
  ofNetwork: 2 * 1024 * 1024,
  ofAll: 32 * 1024 * 1024,
  /** Every network may hold one message even if the others hold everything, so that no network cuts off another. */
  ofNetworkAtLeast: MAX_MESSAGE_BYTES,
};

/** Records read from the log for clients that catch up: in one read, and cached for clients near the same position. */
export const READ_AT_ONCE = { maxRecords: 200, maxBytes: 1024 * 1024 };
export const LOADED = { records: 2_000, bytes: 16 * 1024 * 1024 };
/** Newest records that a feed keeps in memory. */
export const KEPT = { records: 1_024, bytes: 8 * 1024 * 1024 };
/** Clients that catch up at a time; others wait for their turn. */
export const CATCHING_UP = 4;

const MESSAGES = 100;
const WINDOW_MS = 10_000;
/** A message that is refused because the network has used up its share counts as this many messages. */
export const REFUSED_COUNTS = 10;

export interface MessageBudget {
  /** Counts messages; returns false, and counts none, if there would be too many in the last 10 s. */
  take(now: number, count?: number): boolean;
}

export function createMessageBudget(): MessageBudget {
  const times: number[] = [];
  return {
    take(now, count = 1) {
      while (times[0] !== undefined && now - times[0] >= WINDOW_MS) times.shift();
      if (times.length + count > MESSAGES) return false;
      for (let taken = 0; taken < count; taken++) times.push(now);
      return true;
    },
  };
}
