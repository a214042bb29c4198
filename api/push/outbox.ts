/** Numbers the messages to one client, and tracks whether its socket accepts more. */
import type { MessageId } from './client-message.ts';
import type { Hub } from './hub.ts';
import { MAX_UNTAKEN_ANSWERS } from './limits.ts';
import { eventMessage, type PushEvent } from './push-event.ts';
import type { LiveEvent, Transport } from './transport.ts';

const HELLO_VERSION = 1;
/** Bytes. uWebSockets.js cuts a longer reason, and a cut cursor is invalid. */
const LONGEST_REASON = 123;
/** Bytes of the shortest frame header. */
const FRAME_BYTES = 2;

export interface Outbox {
  /** Whether the connection is open and its socket accepts more. */
  readonly isTakingMore: boolean;
  readonly isOpen: boolean;
  /** Cursor of the last message; empty if it is longer than the reason of a close may be. */
  readonly closeReason: string;
  /** The first message, which has no number. */
  hello(chains: ReturnType<Hub['tips']>, heartbeatSeconds: number): void;
  /** Sends a message that is not an event. */
  say(type: string, members: Readonly<Record<string, unknown>>): void;
  /** Like `say`; `members` is the JSON of an object without its closing brace. */
  sayMembers(members: string, type?: string): void;
  refuse(id: MessageId, code: string, detail: string): void;
  sendEvent(event: PushEvent, cursor: string): void;
  sendLive(live: LiveEvent): void;
  /** Sends the messages that `send` writes in one batch. */
  together(send: () => void): void;
  /** Call it when the socket has answered a ping of this many bytes. */
  ponged(bytes: number): void;
  /** Call it when the socket has accepted everything. */
  drained(): void;
  /** Time since which the socket has not accepted everything, in milliseconds; null while it accepts more. */
  readonly blockedSince: number | null;
  /** In milliseconds. */
  readonly lastSentAt: number;
  close(): void;
}

export interface OutboxOptions {
  readonly transport: Transport;
  /** Cursor of a message that is not an event. */
  readonly cursor: () => string;
  /** Called when the socket accepts no more. */
  readonly onBlocked: () => void;
  /** Called when too many answers wait: the client sends more requests while its socket accepts no answers. */
  readonly onOverflow: () => void;
}

export function createOutbox({ transport, cursor: cursorHere, onBlocked, onOverflow }: OutboxOptions): Outbox {
  let seq = 0;
  let lastCursor = '';
  let lastSentAt = performance.now();
  let blockedSince: number | null = null;
  let untaken = 0;
  let isOpen = true;

  function blocked(): void {
    blockedSince ??= performance.now();
    onBlocked();
  }

  function write(json: string | Uint8Array, type: string, cursor: string): void {
    lastSentAt = performance.now();
    lastCursor = cursor;
    if (!transport.send(json, type, cursor)) blocked();
  }

  /** Counts an answer while the socket is blocked. Returns whether there are too many, which ends the connection. */
  function isOverflowing(bytes: number): boolean {
    if (blockedSince !== null) untaken += bytes;
    if (untaken <= MAX_UNTAKEN_ANSWERS) return false;
    onOverflow();
    return true;
  }

  function say(type: string, members: Readonly<Record<string, unknown>>): void {
    sayMembers(JSON.stringify({ type, ...members }).slice(0, -1), type);
  }

  function sayMembers(members: string, type = 'snapshot'): void {
    if (!isOpen) return;
    const cursor = cursorHere();
    const json = `${members},"seq":${seq + 1},"cursor":"${cursor}"}`;
    if (isOverflowing(json.length)) return;
    seq += 1;
    write(json, type, cursor);
  }

  return {
    get isTakingMore() {
      return isOpen && blockedSince === null;
    },
    get isOpen() {
      return isOpen;
    },
    get closeReason() {
      return lastCursor.length <= LONGEST_REASON ? lastCursor : '';
    },
    get blockedSince() {
      return blockedSince;
    },
    get lastSentAt() {
      return lastSentAt;
    },
    hello(chains, heartbeatSeconds) {
      const cursor = cursorHere();
      write(
        JSON.stringify({ type: 'hello', version: HELLO_VERSION, chains, cursor, heartbeatSeconds }),
        'hello',
        cursor,
      );
    },
    say,
    sayMembers,
    refuse: (id, code, detail) => say('error', { id, code, detail }),
    sendEvent(event, cursor) {
      seq += 1;
      write(eventMessage(event, seq, cursor), event.type, cursor);
    },
    sendLive({ event, message, cursor }) {
      seq += 1;
      write(message(seq), event.type, cursor);
    },
    together(send) {
      if (isOpen && !transport.together(send)) blocked();
    },
    ponged(bytes) {
      if (!isOpen || transport.buffered() === 0) return;
      if (blockedSince === null) blocked();
      isOverflowing(FRAME_BYTES + bytes);
    },
    drained() {
      blockedSince = null;
      untaken = 0;
    },
    close() {
      isOpen = false;
    },
  };
}
