/** One connection to the stream, from the greeting to its end, whatever ends it. */
import { createMessageQueue } from './message-queue.ts';
import type { ServerMessage, SubscribeMessage } from './messages.ts';

export type Wish = Pick<SubscribeMessage, 'channels' | 'chains' | 'filter' | 'confirmations' | 'snapshot'>;

export interface ConnectionOptions {
  /** Address of the WebSocket. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly wish: Wish;
  /** Where to go on; null = from the greeting on. */
  readonly cursor: string | null;
  /** Messages that wait for the reader, parts of snapshots aside; one more, and the connection is let go. */
  readonly mostWaiting: number;
  readonly onMessage?: ((message: ServerMessage) => void) | undefined;
}

/** Why it ended: `lagging` by the reader's fault, else by the network's or the server's. */
export interface Ended {
  readonly lagging: boolean;
  readonly reason: string;
}

export interface StreamConnection {
  /** The next message that belongs to the subscription; null at the end. @throws StreamRefused */
  take(): Promise<ServerMessage | null>;
  /** Once take() has said null. */
  readonly ended: Ended;
  close(): void;
}

/** The server will not serve this subscription, however often it is asked. */
export class StreamRefused extends Error {
  /** As in the error message of the stream. */
  readonly code: string;
  constructor(code: string, detail: string) {
    super(`the stream refused the subscription: ${detail} (${code})`);
    this.name = 'StreamRefused';
    this.code = code;
  }
}

/** Node.js takes headers where the standard has names of protocols. */
const openWithKey = (url: string, key: string): WebSocket =>
  Reflect.construct(WebSocket, [url, { headers: { authorization: `Bearer ${key}` } }]);

/** Null for what is not JSON. */
function readMessage(text: string): ServerMessage | null {
  try {
    return JSON.parse(text) as ServerMessage;
  } catch {
    return null;
  }
}

const OPEN_MS = 15_000;
/** Heartbeats that may be missed. */
const SILENT_BEATS = 3;
const SUBSCRIPTION = 'stream';
/** Parts of what comes first on each connection: let go in between, the stream would begin with them again, for ever. The service bounds them. */
const IN_PARTS: ReadonlySet<ServerMessage['type']> = new Set(['snapshot', 'mempool_snapshot']);
/** Refusals that end by themselves: the stream connects again. */
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
    // A snapshot begins anywhere; with a cursor there would be none.
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
    // Before the ack comes what the server sends to who does not subscribe: the cursor brings it again.
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
      // Thrown to whoever reads the stream: from here it would end the process.
      return finish(ended, error instanceof Error ? error : new Error(String(error)));
    }
    if (message.type === 'hello') greet(message);
    else receive(message);
  };
  // After a refused handshake Node's WebSocket tells no close.
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
