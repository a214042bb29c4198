/** One thing that subscribers hear of, encoded once for all of them. */
import type { Place } from './cursor.ts';

export const CHANNELS = ['blocks', 'txs', 'conversions', 'reserves', 'identities', 'addresses'] as const;
export type Channel = (typeof CHANNELS)[number];

/** What filters look at; a member that an event has not is not filtered. */
export interface EventSubjects {
  readonly currencies?: readonly string[];
  readonly basket?: string;
  readonly identity?: string;
  readonly addresses?: readonly string[];
  /** Of a conversion. */
  readonly status?: string;
}

export interface PushEvent {
  readonly chain: string;
  readonly place: Place;
  /** An undo reaches every subscriber of the chain. */
  readonly channel: Channel | 'undo';
  readonly type: string;
  readonly subjects: EventSubjects;
  /** JSON up to the number of the message. */
  readonly head: string;
  /** JSON text of `data`. */
  data(): string;
  /** JSON from behind the cursor on; made when the first subscriber needs it. */
  tail(): string;
}

export interface EventSource {
  readonly chain: string;
  readonly place: Place;
  readonly channel: Channel | 'undo';
  readonly type: string;
  readonly subjects?: EventSubjects;
  /** JSON text of `data`. */
  readonly data: () => string;
}

export function pushEvent({ data, subjects = {}, ...source }: EventSource): PushEvent {
  let tail: string | null = null;
  return {
    ...source,
    subjects,
    data,
    head: `{"type":"${source.type}","chain":${JSON.stringify(source.chain)},"seq":`,
    tail: () => {
      tail ??= `,"data":${data()}}`;
      return tail;
    },
  };
}

/** The message of an event as the `seq`-th of a connection. */
export function eventMessage(event: PushEvent, seq: number, cursor: string): string {
  return `${event.head}${seq},"cursor":"${cursor}"${event.tail()}`;
}
