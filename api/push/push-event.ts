/** An event of the push stream, encoded once for all subscribers. */
import type { Usd } from '../http/usd.ts';
import { type FeedKey, type FeedPlace, type FeedTopicName, feedKey } from './cursor.ts';

export const CHANNELS = [
  'blocks',
  'txs',
  'conversions',
  'prices',
  'reserves',
  'identities',
  'addresses',
  'mempool',
] as const;
export type Channel = (typeof CHANNELS)[number];

/** Members that filters match; a filter ignores members that an event lacks. */
export interface EventSubjects {
  readonly currencies?: readonly string[];
  /** Null if the event has no basket: then no filter by basket matches. */
  readonly basket?: string | null;
  /** Null as with `basket`. */
  readonly identity?: string | null;
  readonly addresses?: readonly string[];
  /** Status of a conversion. */
  readonly status?: string;
  /** USD value of a conversion that is sent with its value, in units of 10^-38; null if it has none. */
  readonly usdValue?: Usd | null;
  /** For a conversion sent with its stamp: the stamp's status differs from the chain's. */
  readonly isCorrection?: boolean;
}

export interface PushEvent {
  readonly chain: string;
  readonly topic: FeedTopicName;
  /** Feed of its topic and chain. */
  readonly feed: FeedKey;
  readonly place: FeedPlace;
  /** The event is sent to subscribers with this number of confirmations. */
  readonly confirmations: number;
  /** An undo goes to every subscriber of any channel that the topic feeds for the chain. */
  readonly channel: Channel | 'undo';
  readonly type: string;
  readonly subjects: EventSubjects;
  /** The subjects of the row that a correction replaces: its subscribers receive the correction too. */
  readonly formerSubjects?: EventSubjects;
  /** JSON of the message up to the value of `seq`. */
  readonly head: string;
  /** JSON text of `data`. */
  data(): string;
  /** JSON of the message after the cursor; encoded when the first subscriber needs it. */
  tail(): string;
}

export interface EventOrigin {
  readonly chain: string;
  readonly topic: FeedTopicName;
  readonly place: FeedPlace;
  readonly confirmations?: number;
  readonly channel: Channel | 'undo';
  readonly type: string;
  readonly subjects?: EventSubjects;
  readonly formerSubjects?: EventSubjects;
  /** JSON text of `data`. */
  readonly data: () => string;
}

/** An event without its place in the stream. */
export type UnplacedEvent = Omit<EventOrigin, 'chain' | 'topic' | 'place'>;

export function pushEvent({ data, subjects = {}, confirmations = 0, ...source }: EventOrigin): PushEvent {
  let tail: string | null = null;
  return {
    ...source,
    feed: feedKey(source.topic, source.chain),
    subjects,
    confirmations,
    data,
    head: headOf({ ...source, confirmations }),
    tail: () => {
      tail ??= `,"data":${data()}}`;
      return tail;
    },
  };
}

export function headOf({ type, chain, confirmations }: Pick<PushEvent, 'type' | 'chain' | 'confirmations'>): string {
  const said = confirmations > 0 ? `,"confirmations":${confirmations}` : '';
  return `{"type":"${type}","chain":${JSON.stringify(chain)}${said},"seq":`;
}

/** Digits of the largest `seq` that a connection can reach. */
const MOST_DIGITS = 16;

/**
 * Returns the message for many connections at one position: its bytes are made once, and only `seq` is rewritten. They are valid
 * until the next call.
 */
export function sharedMessage(event: PushEvent, cursor: string): (seq: number) => Uint8Array {
  const head = Buffer.from(event.head);
  const rest = Buffer.from(`,"cursor":"${cursor}"${event.tail()}`);
  const end = head.length + MOST_DIGITS;
  const whole = Buffer.concat([head, Buffer.alloc(MOST_DIGITS), rest]);
  let message = whole;
  let last = 0;
  return (seq) => {
    if (seq === last) return message;
    last = seq;
    const digits = String(seq);
    const start = MOST_DIGITS - digits.length;
    head.copy(whole, start);
    whole.write(digits, end - digits.length, 'latin1');
    message = whole.subarray(start);
    return message;
  };
}

/** The message of an event as the `seq`-th of a connection. */
export function eventMessage(event: PushEvent, seq: number, cursor: string): string {
  return `${event.head}${seq},"cursor":"${cursor}"${event.tail()}`;
}
