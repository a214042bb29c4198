/** One connection to the stream, from the greeting to its end, whatever the cause of the end. */
import { createMessageQueue } from './message-queue.ts';
import type { ServerMessage, SubscribeMessage } from './messages.ts';

export type Wish = Pick<SubscribeMessage, 'channels' | 'chains' | 'filter' | 'confirmations' | 'snapshot'>;

export interface ConnectionOptions {
  /** URL of the WebSocket. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly wish: Wish;
  /** The position to resume at; null starts at the greeting. */
  readonly cursor: string | null;
  /** Maximum number of unread messages, not counting parts of snapshots; one more closes the connection. */
  readonly mostWaiting: number;
  readonly onMessage?: ((message: ServerMessage) => void) | undefined;
}

/** Why the connection ended: `lagging` if the reader was too slow, otherwise because of the network or the server. */
export interface Ended {
  readonly lagging: boolean;
  readonly reason: string;
}

export interface StreamConnection {
  /** Returns the next message of the subscription, or null at the end. @throws StreamRefused */
  take(): Promise<ServerMessage | null>;
  /** Valid once take() has returned null. */
  readonly ended: Ended;
  close(): void;
}

/** The server refuses this subscription permanently. */
export class StreamRefused extends Error {
  /** The code of the stream's error message. */
  readonly code: string;
  constructor(code: string, detail: string) {
    super(`the stream refused the subscription: ${detail} (${code})`);
    this.name = 'StreamRefused';
    this.code = code;
  }
}

/** Node.js accepts headers in place of the standard's list of protocols. */
const openWithKey = (url: string, key: string): WebSocket =>
  Reflect.construct(WebSocket, [url, { headers: { authorization: `Bearer ${key}` } }]);

/** Returns null for text that is not JSON. */
function readMessage(text: string): ServerMessage | null {
  try {
    return JSON.parse(text) as ServerMessage;
  } catch {
    return null;
  }
}

const OPEN_MS = 15_000;
/** Number of heartbeats that may be missed. */
const SILENT_BEATS = 3;
const SUBSCRIPTION = 'stream';
/**
 * Messages that arrive in parts at the start of each connection. Closing the connection between parts would restart them, for ever, so they
 * do not count as waiting; the service bounds their number.
 */
const IN_PARTS: ReadonlySet<ServerMessage['type']> = new Set(['snapshot', 'mempool_snapshot']);
/** Refusals that are temporary: the stream connects again. */
const PASSING = new Set([
  'rate_limited',
  'too_many_streams',
  'unavailable',
  'internal_error',
  'query_too_slow',
  'too_slow',
  'busy',
]);

export function openConnection({
  url,
  key,
  wish,
  cursor,
  mostWaiting,
  onMessage,
}: ConnectionOptions): StreamConnection {
  const queue = createMessageQueue<ServerMessage>();
  const socket = key === undefined ? new WebSocket(url) : openWithKey(url, key);
  let ended: Ended = { lagging: false, reason: 'closed by the reader' };
  let over = false;
  let seq = 0;
  let waiting = 0;
  let subscribed = false;
  let silenceMs = OPEN_MS;
  let lastAt = performance.now();
  const watchdog = setInterval(() => {
    if (performance.now() - lastAt > silenceMs)
      finish({ lagging: false, reason: `nothing heard for ${silenceMs / 1000} s` });
  }, 1000);

  function finish(why: Ended, error?: Error): void {
    if (over) return;
    over = true;
    ended = why;
    clearInterval(watchdog);
    socket.close();
    queue.end(error);
  }

  function greet(hello: Extract<ServerMessage, { type: 'hello' }>): void {
    silenceMs = hello.heartbeatSeconds * 1000 * SILENT_BEATS;
    // A snapshot needs no cursor, and with a cursor the server would send none.
    const from = cursor ?? (wish.snapshot ? null : hello.cursor);
    const subscribe: SubscribeMessage = {
      op: 'subscribe',
      id: SUBSCRIPTION,
      ...wish,
      ...(from !== null && { cursor: from }),
    };
    socket.send(JSON.stringify(subscribe));
  }

  function refused({ code, detail }: Extract<ServerMessage, { type: 'error' }>): void {
    if (PASSING.has(code)) finish({ lagging: false, reason: `${detail} (${code})` });
    else finish(ended, new StreamRefused(code, detail));
  }

  function receive(message: Exclude<ServerMessage, { type: 'hello' }>): void {
    seq += 1;
    if (message.seq !== seq) finish({ lagging: false, reason: `message ${message.seq} came as number ${seq}` });
    else if (message.type === 'error') refused(message);
    else if (message.type === 'ack') subscribed = true;
    // Before the ack the server sends messages of no subscription; the cursor will bring them again.
    if (over || !subscribed) return;
    queue.push(message);
    if (!IN_PARTS.has(message.type)) waiting += 1;
    if (waiting > mostWaiting) finish({ lagging: true, reason: 'the reader is slower than the stream' });
  }

  socket.onmessage = ({ data }) => {
    if (over) return;
    lastAt = performance.now();
    const message = readMessage(String(data));
    if (message === null)
      return finish({ lagging: false, reason: 'what came is not JSON: no verustream answers there' });
    try {
      onMessage?.(message);
    } catch (error) {
      // Thrown to the reader of the stream; thrown from here, it would end the process.
      return finish(ended, error instanceof Error ? error : new Error(String(error)));
    }
    if (message.type === 'hello') greet(message);
    else receive(message);
  };
  // Node's WebSocket emits no close event after a refused handshake.
  socket.onerror = () => finish({ lagging: false, reason: 'the connection failed or was refused' });
  socket.onclose = ({ code, reason }) => finish({ lagging: false, reason: `closed with ${code} ${reason}`.trim() });

  return {
    async take() {
      const message = await queue.take();
      if (message && !IN_PARTS.has(message.type)) waiting -= 1;
      return message;
    },
    get ended() {
      return ended;
    },
    close: () => finish(ended),
  };
}
