/** Incoming messages of one client: counts them, charges them to its network's share, and reads them one after the other. */

import { setTimeout as sleep } from 'node:timers/promises';
import { asBuffer } from '../../domain/as-buffer.ts';
import type { Pace } from '../../infra/pace.ts';
import { ApiError } from '../http/api-error.ts';
import { type ClientMessage, type MessageId, readClientMessage } from './client-message.ts';
import { filterSize } from './filter-size.ts';
import {
  CURSOR_WORK,
  createMessageBudget,
  MAX_MESSAGE_BYTES,
  messageWork,
  REFUSED_COUNTS,
  SNAPSHOT_WORK,
} from './limits.ts';
import type { NetworkShare } from './network-share.ts';
import { LimitExceeded, SubscriptionRefused } from './subscription-refused.ts';

export interface Inbox {
  receive(message: Uint8Array): void;
  /** Counts a WebSocket ping as a message. */
  ping(): void;
  readonly isEmpty: boolean;
  close(): void;
}

export interface InboxOptions {
  readonly share: NetworkShare;
  readonly pace: Pace;
  /** Work units of a subscription to these channels, in addition to those of its filter. */
  workOf(channels: readonly string[] | undefined): number;
  /** Returns null if the message is handled synchronously. */
  read(message: ClientMessage): Promise<void> | null;
  refuse(id: MessageId, code: string, detail: string): void;
  /** Ends the connection. */
  overLimit(id: MessageId, detail: string): void;
  /** Ends the connection because of a fault of the service. */
  fail(error: unknown): void;
}

export function createInbox({
  share,
  pace,
  workOf: workOfChannels,
  read,
  refuse,
  overLimit,
  fail,
}: InboxOptions): Inbox {
  const budget = createMessageBudget();
  const closing = new AbortController();
  const waiting: string[] = [];
  let isReading = false;

  /** Waits until the network's allowance covers this work; null if it does at once. @throws ApiError rate_limited */
  function turn(work: number): Promise<void> | null {
    const ms = share.order(work);
    if (ms > 0) return sleep(ms, undefined, { signal: closing.signal }).then(() => pace.rest());
    return pace.isSpent() ? pace.rest() : null;
  }

  async function readNext(text: string): Promise<void> {
    const message = readClientMessage(text);
    if (!message.ok) return refuse(message.id, message.code, message.detail);
    const id = message.message.id ?? null;
    try {
      const work = workOf(message.message, workOfChannels);
      const turnOfFilter = work > 0 ? turn(work) : null;
      if (turnOfFilter) await turnOfFilter;
    } catch (error) {
      return refused(id, error);
    }
    if (closing.signal.aborted) return;
    const reading = read(message.message);
    if (reading) await reading;
  }

  async function readAll(): Promise<void> {
    isReading = true;
    for (let text = waiting[0]; text !== undefined; text = waiting[0]) {
      try {
        const turnOfMessage = turn(messageWork(text.length));
        if (turnOfMessage) await turnOfMessage;
        await readNext(text);
      } catch (error) {
        if (closing.signal.aborted) return;
        refused(null, error);
      }
      if (closing.signal.aborted) return;
      waiting.shift();
      share.wait(-text.length);
    }
    isReading = false;
  }

  function refused(id: MessageId, error: unknown): void {
    if (closing.signal.aborted) return;
    if (error instanceof LimitExceeded) overLimit(id, error.message);
    else if (error instanceof SubscriptionRefused) refuse(id, error.reason, error.message);
    else if (!(error instanceof ApiError)) fail(error);
    else {
      refuse(id, error.code, error.message);
      // The refusal is charged too: a client that ignores it uses up the connection's allowance.
      if (!budget.take(performance.now(), REFUSED_COUNTS - 1)) tooMany();
    }
  }

  const tooMany = () =>
    overLimit(null, 'a client may send 100 messages in 10 s; one refused as rate_limited counts as 10');

  return {
    get isEmpty() {
      return waiting.length === 0;
    },
    receive(message) {
      if (closing.signal.aborted) return;
      if (!budget.take(performance.now())) return tooMany();
      if (message.byteLength > MAX_MESSAGE_BYTES) return overLimit(null, 'a message may have 16 kB');
      const text = asBuffer(message).toString('utf8');
      try {
        share.wait(text.length);
      } catch (error) {
        return refused(null, error);
      }
      waiting.push(text);
      if (!isReading) readAll().catch(fail);
    },
    ping() {
      if (!closing.signal.aborted && !budget.take(performance.now())) tooMany();
    },
    close() {
      closing.abort();
      waiting.length = 0;
    },
  };
}

function workOf(message: ClientMessage, workOfChannels: InboxOptions['workOf']): number {
  if (message.op !== 'subscribe') return 0;
  const { filter = {}, cursor, channels } = message;
  const snapshot = message.snapshot ? SNAPSHOT_WORK : 0;
  return filterSize(filter).work + (cursor === undefined ? 0 : CURSOR_WORK) + snapshot + workOfChannels(channels);
}
