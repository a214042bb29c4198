/** Transports of messages to clients. */
import type { PushEvent } from './push-event.ts';

/** Sends messages to one client. */
export interface Transport {
  /** Returns false if the socket has not accepted everything: then nothing more is sent before drained(). */
  send(json: string | Uint8Array, type: string, cursor: string): boolean;
  /** Sends the messages that `send` writes in one batch; returns false like send(). */
  together(send: () => void): boolean;
  /** Bytes that the socket has not accepted yet; 0 if unknown. */
  buffered(): number;
  /** Closes the connection with a code and a reason of at most 123 bytes. */
  end(code: number, reason: string): void;
}

/** An event at the end of the stream; `cursor` is the place right after it. */
export interface LiveEvent {
  readonly event: PushEvent;
  /** Encoded on first use. */
  readonly cursor: string;
  /** Bytes of the message, valid until the next call. */
  message(seq: number): Uint8Array;
}
