/** Position of a reader of the push stream, as text: for each chain, the next event of the topics `facts` and `stamps`. */
import { PermanentError } from '../../schemas/errors.ts';

/** The next event to deliver: `index` counts the events of the record at `position`. */
export interface FeedPlace {
  readonly position: number;
  readonly index: number;
}

export type FeedTopicName = 'facts' | 'stamps';
/** Identifies a topic of a chain; for its facts it is the chain's name alone. */
export type FeedKey = string;

const STAMPS = '/stamps'; // no chain has a / in its name

export function feedKey(topic: FeedTopicName, chain: string): FeedKey {
  return topic === 'facts' ? chain : chain + STAMPS;
}

/** The place in each feed. */
export type FeedPlaces = ReadonlyMap<FeedKey, FeedPlace>;

export class CursorInvalid extends PermanentError {
  constructor() {
    super('cursor_invalid', 'this service did not issue the cursor: pass the cursor of a message unchanged');
  }
}

const VERSION = 1;
/** The version of cursors sent before the last part of a snapshot: with such a cursor the snapshot is sent again. */
const VERSION_WITHOUT_SNAPSHOT = 2;
const NO_NAME = Buffer.alloc(0);

/** Short enough to be the reason of a WebSocket close (123 bytes) for a handful of chains; safe in a URL. */
export function encodePlaces(places: FeedPlaces, lacksSnapshot = false): string {
  const bytes: number[] = [lacksSnapshot ? VERSION_WITHOUT_SNAPSHOT : VERSION];
  let before: FeedKey = '';
  for (const [key, { position, index }] of places) {
    // An empty name means the stamps of the preceding chain, which usually follow the chain's facts.
    const name = before !== '' && key === before + STAMPS ? NO_NAME : Buffer.from(key, 'utf8');
    bytes.push(name.length, ...name);
    before = key;
    pushVarint(bytes, position);
    pushVarint(bytes, index);
  }
  return Buffer.from(bytes).toString('base64url');
}

/**
 * More characters than a chain takes in any cursor: the longest name that the configuration allows, and the largest places in both topics.
 * The places of real chains take about 30, so there is also room for chains that are no longer configured.
 */
const CHARACTERS_OF_A_CHAIN = 100;
/** Allowed however few chains are configured. */
const LEAST_ALLOWED = 1_000;

/**
 * Decodes the cursor of a client of a service with this many chains.
 * @throws CursorInvalid, also for a text that is longer than any cursor of this service
 */
export function readCursor(text: string, chains: number): FeedPlaces {
  if (text.length > Math.max(LEAST_ALLOWED, CHARACTERS_OF_A_CHAIN * chains)) throw new CursorInvalid();
  return decodePlaces(text);
}

/** @throws CursorInvalid */
export function decodePlaces(text: string): FeedPlaces {
  if (!/^[A-Za-z0-9_-]{2,}$/.test(text)) throw new CursorInvalid();
  const bytes = Buffer.from(text, 'base64url');
  const isKnown = bytes[0] === VERSION || bytes[0] === VERSION_WITHOUT_SNAPSHOT;
  if (!isKnown || bytes.toString('base64url') !== text) throw new CursorInvalid();
  const places = new Map<FeedKey, FeedPlace>();
  let at = 1;
  let before: FeedKey = '';
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > Number.MAX_SAFE_INTEGER) throw new CursorInvalid();
      value += (byte % 128) * scale;
      if (byte < 128) break;
    }
    if (!Number.isSafeInteger(value)) throw new CursorInvalid();
    return value;
  };
  while (at < bytes.length) {
    const length = varint();
    const key = length === 0 && before !== '' ? before + STAMPS : bytes.toString('utf8', at, at + length);
    at += length;
    if (at > bytes.length || key === '' || places.has(key)) throw new CursorInvalid();
    places.set(key, { position: varint(), index: varint() });
    before = key;
  }
  return places;
}

/** Whether the cursor's client has not received all of a snapshot that it asked for. */
export function lacksSnapshot(text: string): boolean {
  return Buffer.from(text.slice(0, 4), 'base64url')[0] === VERSION_WITHOUT_SNAPSHOT;
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
