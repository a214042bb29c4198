/** How messages go to a client. */
import type { PushEvent } from './push-event.ts';

/** The way to one client. */
export interface Transport {
  /** False when the socket has not taken everything: nothing more is sent before drained(). */
  send(json: string | Uint8Array, type: string, cursor: string): boolean;
  /** Sends inside it leave together; false as with send(). */
  together(send: () => void): boolean;
  /** Bytes that the socket has not taken yet, where that is known. */
  buffered(): number;
  /** Ends it with a code and a reason of at most 123 bytes. */
  end(code: number, reason: string): void;
}

/** An event at the end of the stream; `cursor` is the text of the place right behind it. */
export interface LiveEvent {
  readonly event: PushEvent;
  /** Made when it is first asked for. */
  readonly cursor: string;
  /** Bytes of the message, until the next call. */
  message(seq: number): Uint8Array;
}
