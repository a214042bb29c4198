/** The stream client against a server that fails in the ways servers fail; test/stream-check runs it against the real server. */
import {
  App,
  type WebSocket as Socket,
  type TemplatedApp,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerMessage } from './messages.ts';
import { openStream, type StreamEvent, type StreamOptions, StreamRefused } from './stream.ts';

/** The server's behaviour on one connection, once it has received the subscription. */
type Life = (said: { cursor: string }, say: (message: object) => void, end: (code: number) => void) => void;

let lives: Life[];
let asked: { cursor: string; channels?: string[] }[];
let authorization: string;
/** Number of handshakes to refuse with a status. */
let refusals: number;
let app: TemplatedApp;
let port: number;
let close: () => void;
let heartbeatSeconds: number;
/** The server's first message; null for a normal greeting. */
let greeting: string | null;
const hello = () => ({ type: 'hello', version: 1, chains: {}, cursor: 'c0', heartbeatSeconds });
const undo = (seq: number) => ({ type: 'undo', chain: 'a', seq, cursor: `c${seq}`, data: { fromHeight: seq } });

beforeEach(async () => {
  lives = [];
  asked = [];
  heartbeatSeconds = 15;
  greeting = null;
  refusals = 0;
  app = App().ws('/api/ws', {
    upgrade(res, req, context) {
      authorization = req.getHeader('authorization');
      if (refusals-- > 0) {
        res.writeStatus('429 Too Many Requests').end();
        return;
      }
      res.upgrade({}, req.getHeader('sec-websocket-key'), '', '', context);
    },
    open: (ws: Socket<unknown>) => void ws.send(greeting ?? JSON.stringify(hello())),
    message(ws, bytes) {
      const said = JSON.parse(Buffer.from(bytes).toString());
      asked.push(said);
      const say = (message: object) => void ws.send(JSON.stringify(message));
      say({ type: 'ack', id: said.id, seq: 1, cursor: said.cursor });
      (lives.shift() ?? (() => undefined))(said, say, (code) => ws.end(code));
    },
  });
  await new Promise<void>((resolve) =>
    app.listen('127.0.0.1', 0, (socket) => {
      if (!socket) throw new Error('no port');
      port = us_socket_local_port(socket);
      close = () => us_listen_socket_close(socket);
      resolve();
    }),
  );
});
afterEach(() => {
  close();
  app.close();
});

const open = (options: Partial<StreamOptions> = {}) =>
  openStream({ baseUrl: `http://127.0.0.1:${port}`, retryMs: [1, 20], ...options });

async function take(stream: AsyncIterable<StreamEvent>, count: number): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = [];
  for await (const event of stream) if (taken.push(event) === count) break;
  return taken;
}

describe('a stream', () => {
  it('begins at the greeting and resumes after the last event when the server closes the connection', async () => {
    lives = [
      (_, say, end) => {
        say(undo(2));
        say({ type: 'heartbeat', chains: {}, seq: 3, cursor: 'c3' } satisfies ServerMessage);
        end(1001);
      },
      (_, say) => say({ ...undo(2), cursor: 'c9' }),
    ];
    const stream = open({ channels: ['blocks'] });
    expect((await take(stream, 2)).map(({ cursor }) => cursor)).toEqual(['c2', 'c9']);
    expect(asked).toMatchObject([{ op: 'subscribe', channels: ['blocks'], cursor: 'c0' }, { cursor: 'c3' }]);
    expect(stream.cursor).toBe('c9');
  });

  it('sends its key', async () => {
    lives = [(_, say) => say(undo(2))];
    await take(open({ key: 'vst_x' }), 1);
    expect(authorization).toBe('Bearer vst_x');
  });

  it('reconnects when a message has the wrong sequence number', async () => {
    lives = [(_, say) => [undo(2), undo(4)].forEach(say), (_, say) => say(undo(2))];
    const reasons: string[] = [];
    await take(open({ onReconnect: ({ reason }) => reasons.push(reason) }), 2);
    expect(asked.map(({ cursor }) => cursor)).toEqual(['c0', 'c2']);
    expect(reasons).toEqual(['message 4 came as number 3']);
  });

  it('leaves a server that sends nothing, not even heartbeats', async () => {
    heartbeatSeconds = 0.1;
    lives = [() => undefined, (_, say) => say(undo(2))];
    const reasons: string[] = [];
    await take(open({ onReconnect: ({ reason }) => reasons.push(reason) }), 1);
    expect(reasons).toEqual([expect.stringContaining('nothing heard')]);
  });

  it('buffers a limited number of messages for a slow reader, reconnects, and misses nothing', async () => {
    const total = 50;
    const tell: Life = ({ cursor }, say) => {
      const first = Number(cursor.slice(1)) + 1;
      for (let n = first; n <= total; n += 1) say({ ...undo(n - first + 2), cursor: `c${n}` });
    };
    lives = Array.from({ length: total }, () => tell);
    const cursors: string[] = [];
    for await (const event of open({ mostWaiting: 8 })) {
      cursors.push(event.cursor);
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (cursors.length === total) break;
    }
    expect(cursors).toEqual(Array.from({ length: total }, (_, n) => `c${n + 1}`));
    expect(asked.length).toBeGreaterThan(1);
  });

  it.each(['snapshot', 'mempool_snapshot'])('receives a %s of more parts than it may buffer', async (type) => {
    const parts = Array.from({ length: 30 }, (_, n) => ({ type, data: {}, cursor: n === 29 ? 'c1' : 'part' }));
    const events = Array.from({ length: 8 }, (_, n) => ({ ...undo(0), cursor: `c${n + 2}` }));
    // A client that reconnects before the last part gets all parts again.
    const life: Life = ({ cursor = 'part' }, say) => {
      const behind = /^c[1-9]$/.test(cursor) ? Number(cursor.slice(1)) : null;
      const messages = behind === null ? [...parts, ...events] : events.slice(behind - 1);
      for (const [index, message] of messages.entries()) say({ ...message, seq: index + 2 });
    };
    lives = Array(5).fill(life);
    const seen: string[] = [];
    for await (const { cursor } of open({ snapshot: type === 'snapshot', mostWaiting: 4 })) {
      seen.push(cursor);
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (cursor === 'c9') break;
    }
    expect(seen).toEqual([...parts, ...events].map(({ cursor }) => cursor));
  });

  it('ends at once for a reader that returns while it waits for the next event', async () => {
    const reasons: string[] = [];
    const events = open({ onReconnect: ({ reason }) => reasons.push(reason) })[Symbol.asyncIterator]();
    const next = events.next();
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(reasons).toEqual([]);
  });

  it('ends at once for a reader that returns between two attempts to connect', async () => {
    let tries = 0;
    const options = {
      baseUrl: 'http://127.0.0.1:1',
      retryMs: [1e6, 1e6] as const,
      onReconnect() {
        tries += 1;
      },
    };
    const events = open(options)[Symbol.asyncIterator]();
    const next = events.next();
    while (tries === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await events.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('throws errors of onMessage to its reader, and treats a message that is not JSON as a lost connection', async () => {
    const failing = open({
      onMessage: () => {
        throw new TypeError('of the reader');
      },
    });
    await expect(take(failing, 1)).rejects.toThrow('of the reader');
    greeting = 'no JSON';
    const reasons: string[] = [];
    const stop = new AbortController();
    const onReconnect = ({ reason }: { reason: string }) => {
      if (reasons.push(reason) === 2) stop.abort();
    };
    await take(open({ onReconnect, signal: stop.signal }), 1);
    expect(reasons[1]).toContain('not JSON');
  });

  it.each(['wss://127.0.0.1', 'ftp://127.0.0.1', 'https://127.0.0.1/verus/'])(
    'keeps the scheme and the path of %s, or names the allowed schemes',
    async (address) => {
      const opened: string[] = [];
      const { WebSocket: real } = globalThis;
      globalThis.WebSocket = class {
        constructor(url: string) {
          opened.push(url);
          throw new RangeError('opened');
        }
      } as unknown as typeof WebSocket;
      try {
        const reading = async () => take(openStream({ baseUrl: address }), 1);
        await expect(reading()).rejects.toThrow(
          address.startsWith('ftp') ? 'baseUrl begins with http:// or https://' : 'opened',
        );
      } finally {
        globalThis.WebSocket = real;
      }
      const expected = { w: ['wss://127.0.0.1/api/ws'], f: [], h: ['wss://127.0.0.1/verus/api/ws'] };
      expect(opened).toEqual(expected[address[0] as 'w' | 'f' | 'h']);
    },
  );

  it('returns a resync as an event and continues', async () => {
    const resync = { type: 'resync', chain: 'a', reason: 'cursor_expired', snapshot: '/x', seq: 2, cursor: 'c5' };
    lives = [(_, say) => [resync, undo(3)].forEach(say)];
    expect((await take(open({ cursor: 'c1' }), 2)).map(({ type }) => type)).toEqual(['resync', 'undo']);
    expect(asked[0]?.cursor).toBe('c1');
  });

  it('throws a permanent refusal, and does not connect again', async () => {
    const detail = 'unknown channel "x"';
    lives = [(_, say) => say({ type: 'error', id: 'stream', code: 'unknown_channel', detail, seq: 2, cursor: 'c0' })];
    await expect(take(open(), 1)).rejects.toThrow(StreamRefused);
    expect(asked).toHaveLength(1);
  });

  it('connects again after a temporary refusal', async () => {
    const refusal = { type: 'error', id: null, code: 'rate_limited', detail: 'ask again in 1 s', seq: 2, cursor: 'c0' };
    lives = [
      (_, say, end) => {
        say(refusal);
        end(4429);
      },
      (_, say) => say(undo(2)),
    ];
    expect((await take(open(), 1)).map(({ type }) => type)).toEqual(['undo']);
    expect(asked).toHaveLength(2);
  });

  it('connects again at once after a refused handshake', async () => {
    refusals = 2;
    lives = [(_, say) => say(undo(2))];
    expect((await take(open(), 1)).map(({ type }) => type)).toEqual(['undo']);
  });

  it('connects ever less often to a server that ends each connection after the ack', async () => {
    lives = Array.from({ length: 1_000 }, () => (_, __, end) => end(1011));
    const stop = new AbortController();
    const taken = take(open({ signal: stop.signal, retryMs: [20, 60_000] }), 1);
    setTimeout(() => stop.abort(), 1_500);
    await taken;
    expect(asked.length).toBeLessThan(12); // about 50 if the pauses did not grow
  });

  it('ends at once when onReconnect aborts its signal', async () => {
    const stop = new AbortController();
    const onReconnect = () => stop.abort();
    expect(
      await take(open({ baseUrl: 'http://127.0.0.1:1', signal: stop.signal, retryMs: [1e6, 1e6], onReconnect }), 1),
    ).toEqual([]);
  });

  it('ends with its signal, whether connected or waiting to reconnect', async () => {
    for (const baseUrl of [`http://127.0.0.1:${port}`, 'http://127.0.0.1:1']) {
      const stop = new AbortController();
      const taken = take(open({ baseUrl, signal: stop.signal, retryMs: [60_000, 60_000] }), 1);
      setTimeout(() => stop.abort(), 50);
      expect(await taken).toEqual([]);
    }
  });
});
