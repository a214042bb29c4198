/** A service whose stream is scripted; a running service answers everything else. */
import { App, us_listen_socket_close, us_socket_local_port, type WebSocket } from 'uWebSockets.js';

/** A message without the members that the stream adds to each message. */
export type ScriptedEvent = { readonly type: string; readonly chain: string; readonly data: object };

export interface ScriptedStream {
  readonly url: string;
  /** Number of open connections that have subscribed. */
  readonly readers: number;
  send(events: readonly ScriptedEvent[]): void;
  stop(): void;
}

interface Reader {
  seq: number;
}

const HEARTBEAT_SECONDS = 30;

/**
 * @param base URL of the running service
 * @param tips in its greeting
 */
export async function startScriptedStream(base: string, tips: object = {}): Promise<ScriptedStream> {
  const readers = new Set<WebSocket<Reader>>();
  let cursors = 0;
  const nextCursor = () => `c${cursors++}`;

  const sendTo = (socket: WebSocket<Reader>, message: object, cursor: string) => {
    const data = socket.getUserData();
    data.seq += 1;
    socket.send(JSON.stringify({ ...message, seq: data.seq, cursor }));
  };

  const app = App();
  app.ws<Reader>('/api/ws', {
    maxBackpressure: 0, // otherwise messages that a slow reader does not accept in time are dropped, while `seq` continues
    upgrade(response, request, context) {
      response.upgrade(
        { seq: 0 },
        request.getHeader('sec-websocket-key'),
        request.getHeader('sec-websocket-protocol'),
        request.getHeader('sec-websocket-extensions'),
        context,
      );
    },
    open(socket) {
      const hello = { type: 'hello', version: 1, chains: tips, heartbeatSeconds: HEARTBEAT_SECONDS };
      socket.send(JSON.stringify({ ...hello, cursor: nextCursor() }));
    },
    message(socket, text) {
      const { id, channels } = JSON.parse(Buffer.from(text).toString()) as { id: string; channels: string[] };
      sendTo(socket, { type: 'ack', id, channels, chains: [] }, nextCursor());
      readers.add(socket);
    },
    close: (socket) => void readers.delete(socket),
  });
  app.any('/*', (response, request) => {
    const query = request.getQuery();
    const path = `${request.getUrl()}${query ? `?${query}` : ''}`;
    const headers: Record<string, string> = {};
    request.forEach((name, value) => {
      if (name === 'accept' || name === 'if-none-match') headers[name] = value;
    });
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    void (async () => {
      const answer = await fetch(`${base}${path}`, { headers });
      const body = await answer.arrayBuffer();
      if (isGone) return;
      response.cork(() => {
        response.writeStatus(String(answer.status));
        // `fetch` has decompressed the body.
        for (const [name, value] of answer.headers) {
          if (!/^(content-encoding|content-length|transfer-encoding|connection|date)$/.test(name)) {
            response.writeHeader(name, value);
          }
        }
        response.end(body);
      });
    })();
  });

  const listening = await new Promise<Parameters<typeof us_listen_socket_close>[0]>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => (socket ? resolve(socket) : reject(new Error('no port is free'))));
  });
  return {
    url: `http://127.0.0.1:${us_socket_local_port(listening)}`,
    get readers() {
      return readers.size;
    },
    send(events) {
      for (const event of events) {
        const cursor = nextCursor();
        for (const socket of readers) sendTo(socket, event, cursor);
      }
    },
    stop() {
      us_listen_socket_close(listening);
      for (const socket of [...readers]) socket.close();
      app.close();
    },
  };
}
