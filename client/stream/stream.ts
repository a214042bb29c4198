/**
 * Follows the push stream for as long as it is read: every event once and in order, whatever happens to the connection, the
 * server or the reader in between.
 */
import type { ChainEvent, ServerMessage } from './messages.ts';
import { type Ended, openConnection, type StreamConnection, type Wish } from './stream-connection.ts';

export { StreamRefused } from './stream-connection.ts';

/**
 * Events of the chains; parts of a `snapshot`, of which the first replaces all that the reader holds; and `resync`: what lies between the
 * event before it and the one after it is lost to this reader.
 */
export type StreamEvent = ChainEvent | Extract<ServerMessage, { type: 'resync' | 'snapshot' }>;

export interface StreamOptions extends Wish {
  /** Such as `http://127.0.0.1:8080`, or `https://example.org/verus` behind a proxy. */
  readonly baseUrl: string;
  /**
   * API key; without one the allowance of the caller's address holds. Browsers cannot send it. A WebSocket does not learn why it was
   * refused: a wrong key is tried again and again, and only onReconnect hears of it.
   */
  readonly key?: string;
  /** Cursor of the last processed event; without one the stream begins now. */
  readonly cursor?: string;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Messages held for a slow reader, parts of snapshots aside; beyond, the connection is let go and resumed once they are read. 10,000 by default. */
  readonly mostWaiting?: number;
  /** Milliseconds between attempts to connect, growing from the first to the second; 250 and 30,000 by default. */
  readonly retryMs?: readonly [number, number];
  /** Hears every message before it is read, greetings and heartbeats too: for a display of the connection. What it throws ends the stream. */
  readonly onMessage?: (message: ServerMessage) => void;
  /** Hears of each end of a connection. */
  readonly onReconnect?: (why: Ended) => void;
}

export interface Stream extends AsyncIterable<StreamEvent> {
  /**
   * Behind all that was read; moves on without events, too. Null before the first connection. Keep the cursor of an event
   * together with what it led to, and come back with it.
   */
  readonly cursor: string | null;
}

const MOST_WAITING = 10_000;
const RETRY_MS = [250, 30_000] as const;

/** Iterating connects. @throws StreamRefused while it is iterated, when the server does not take the subscription */
export function openStream({ baseUrl, key, signal, ...options }: StreamOptions): Stream {
  const {
    channels,
    chains,
    filter,
    confirmations,
    snapshot,
    mostWaiting = MOST_WAITING,
    retryMs = RETRY_MS,
    onMessage,
    onReconnect,
  } = options;
  const url = socketUrl(baseUrl);
  const wish: Wish = {
    ...(channels && { channels }),
    ...(chains && { chains }),
    ...(filter && { filter }),
    ...(confirmations !== undefined && { confirmations }),
    ...(snapshot !== undefined && { snapshot }),
  };
  let cursor = options.cursor ?? null;

  async function* events(left: AbortSignal): AsyncGenerator<StreamEvent, void, void> {
    for (let failures = 0; !left.aborted; failures += 1) {
      const connection = openConnection({ url, key, wish, cursor, mostWaiting, onMessage });
      const close = () => connection.close();
      left.addEventListener('abort', close, { once: true });
      try {
        for await (const message of messagesOf(connection)) {
          if (left.aborted) return;
          // An ack alone brings nothing: a service that fails behind it is asked ever less often.
          if (message.type !== 'ack') failures = 0;
          cursor = message.cursor;
          if ('data' in message || message.type === 'resync' || message.type === 'snapshot') yield message;
        }
      } finally {
        left.removeEventListener('abort', close);
        connection.close();
      }
      if (left.aborted) return;
      onReconnect?.(connection.ended);
      if (!connection.ended.lagging) await pause(retryMs, failures, left);
    }
  }

  return {
    get cursor() {
      return cursor;
    },
    [Symbol.asyncIterator]() {
      const leaving = new AbortController();
      const reading = events(signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal);
      return {
        next: () => reading.next(),
        // A generator alone would return only when the message that it waits for has come.
        return() {
          leaving.abort();
          return reading.return();
        },
      };
    },
  };
}

const SCHEMES: Readonly<Record<string, string>> = { 'http:': 'ws:', 'https:': 'wss:', 'ws:': 'ws:', 'wss:': 'wss:' };

/** @throws TypeError for an address of another scheme */
function socketUrl(baseUrl: string): string {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/api/ws`);
  const scheme = SCHEMES[url.protocol];
  if (scheme === undefined) throw new TypeError(`baseUrl begins with http:// or https://, not with ${url.protocol}`);
  url.protocol = scheme;
  return url.href;
}

async function* messagesOf(connection: StreamConnection): AsyncGenerator<ServerMessage, void, void> {
  for (let message = await connection.take(); message; message = await connection.take()) yield message;
}

/** Doubling, and never all clients at once. */
function pause([first, longest]: readonly [number, number], failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(longest, first * 2 ** failures) * (0.5 + Math.random() / 2);
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
