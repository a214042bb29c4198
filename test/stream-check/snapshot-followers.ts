/** Bots that begin with a snapshot, at any point: now and then they forget all that they hold, and begin again. */
import { decodePlaces, type FeedPlaces } from '../../api/push/cursor.ts';
import { openStream } from '../../client/stream/stream.ts';
import { type BotState, createBotState } from './bot-state.ts';
import { placeOf } from './history.ts';

export interface SnapshotFollower {
  readonly name: string;
  readonly faults: string[];
  /** Number of snapshots that it has received completely. */
  snapshots(): number;
  /** Places that its state has reached; null while it lacks its snapshot. */
  places(): FeedPlaces | null;
  state(): BotState;
  readonly done: Promise<void>;
}

export interface SnapshotFollowerOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Whether it may still forget what it holds. */
  readonly mayForget: () => boolean;
}

const CHANNELS = ['blocks', 'prices', 'reserves', 'conversions'];
/** Average number of messages after which a bot dies, and share of its deaths in which it forgets all. */
const LIFE = 40;
const FORGETS = 0.6;
const RETRY_MS = [50, 1_000] as const;

export function followFromSnapshot({
  name,
  baseUrl,
  random,
  signal,
  mayForget,
}: SnapshotFollowerOptions): SnapshotFollower {
  let state = createBotState();
  let cursor: string | null = null;
  let isWhole = false;
  let snapshots = 0;
  let parts = 0;
  const faults: string[] = [];

  async function live(): Promise<void> {
    const wish = { channels: CHANNELS, snapshot: true, ...(cursor !== null && { cursor }) };
    for await (const message of openStream({ baseUrl, ...wish, signal, retryMs: RETRY_MS })) {
      if (message.type === 'resync') faults.push(`resync: ${message.reason}`);
      else if (message.type === 'snapshot') {
        if (message.part !== 1 && message.part !== parts + 1) faults.push(`part ${message.part} after ${parts}`);
        parts = message.part;
        state.takePart(message);
        isWhole = message.last;
        if (message.last) snapshots += 1;
      } else {
        if (!isWhole) faults.push(`${message.type} before the end of the snapshot`);
        const { type } = placeOf(message.chain, message.type, message.data);
        state.takeEvent({ chain: message.chain, type, data: message.data });
      }
      cursor = message.cursor;
      if (random() < 1 / LIFE) return;
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await live();
      if (!mayForget() || random() > FORGETS) continue;
      state = createBotState();
      cursor = null;
      isWhole = false;
    }
  }

  return {
    name,
    faults,
    snapshots: () => snapshots,
    places: () => (cursor === null || !isWhole ? null : decodePlaces(cursor)),
    state: () => state,
    done: run(),
  };
}
