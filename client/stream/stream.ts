/**
 * Follows the push stream for as long as it is read: delivers every event once and in order, whatever happens meanwhile to the connection,
 * the server or the reader.
 */
import type { ChainEvent, ServerMessage } from './messages.ts';
import { type Ended, openConnection, type StreamConnection, type Wish } from './stream-connection.ts';

export { StreamRefused } from './stream-connection.ts';

/**
 * Events of the chains; parts of a `snapshot`, whose first part replaces all state that the reader has; and `resync`, which means that the
 * events between the previous and the next event are lost to this reader.
 */
export type StreamEvent = ChainEvent | Extract<ServerMessage, { type: 'resync' | 'snapshot' }>;

export interface StreamOptions extends Wish {
  /** For example `http://127.0.0.1:8080`, or `https://example.org/verus` behind a proxy. */
  readonly baseUrl: string;
  /**
   * API key; without one, the allowance of the caller's IP address applies. Browsers cannot send it. A WebSocket does not learn why it was
   * refused: the client retries a wrong key for ever, and only onReconnect is called.
   */
  readonly key?: string;
  /** Cursor of the last processed event; without one the stream begins now. */
  readonly cursor?: string;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /**
   * Messages buffered for a slow reader, not counting parts of snapshots; beyond it the client closes the connection, and resumes once they
   * are read. Default 10,000.
   */
  readonly mostWaiting?: number;
  /** Milliseconds between attempts to connect, growing from the first value to the second; default 250 and 30,000. */
  readonly retryMs?: readonly [number, number];
  /**
   * Called with every message before it is read, including greetings and heartbeats: for displaying the connection. An error thrown here
   * ends the stream.
   */
  readonly onMessage?: (message: ServerMessage) => void;
  /** Called at each end of a connection. */
  readonly onReconnect?: (why: Ended) => void;
}

export interface Stream extends AsyncIterable<StreamEvent> {
  /**
   * The position after all messages read so far; it also advances without events. Null before the first connection. Save the cursor of an
   * event together with the event's effects, and resume with it.
   */
  readonly cursor: string | null;
}

const MOST_WAITING = 10_000;
const RETRY_MS = [250, 30_000] as const;

/** The stream connects when it is iterated. @throws StreamRefused during iteration, when the server rejects the subscription */
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
          // An ack alone is no progress: a service that fails right after it is retried ever less often.
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
        // return() of a generator would wait until the pending message arrives.
        return() {
          leaving.abort();
          return reading.return();
        },
      };
    },
  };
}

const SCHEMES: Readonly<Record<string, string>> = { 'http:': 'ws:', 'https:': 'wss:', 'ws:': 'ws:', 'wss:': 'wss:' };

/** @throws TypeError for another scheme */
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

/** Waits with exponential backoff, randomised so that clients do not all reconnect at once. */
function pause([first, longest]: readonly [number, number], failures: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve(); // by onReconnect
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
