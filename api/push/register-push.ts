/** The two transports of the push stream: WebSocket /api/ws and server-sent events on GET /api/stream. */
import type { WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import type { Logger } from '../../infra/logger.ts';
import { LEAST_CREDITS } from '../access/bills.ts';
import { ApiError } from '../http/api-error.ts';
import type { DispatcherOptions } from '../http/dispatcher.ts';
import { handleRequest } from '../http/exchange.ts';
import { refusing } from '../http/fixed-answers.ts';
import type { FramedRoutes } from '../http/framed-routes.ts';
import { isFault, toApiError } from '../http/problem-reply.ts';
import { admitConnection } from './admit-connection.ts';
import type { SubscribeMessage } from './client-message.ts';
import { MAX_FRAME_BYTES } from './limits.ts';
import type { NetworkShare } from './network-share.ts';
import { SOCKET_PATH } from './paths.ts';
import type { Push } from './push.ts';
import type { PushConnection } from './push-connection.ts';
import { registerStream } from './register-stream.ts';
import type { Transport } from './transport.ts';

export interface SocketData {
  readonly first: Omit<SubscribeMessage, 'op' | 'id'>;
  readonly share: NetworkShare;
  /** Called when the socket opens, with its connection: this object is a copy of the one given to the upgrade. */
  readonly opened?: (connection: PushConnection) => void;
  connection: PushConnection | null;
}

const REFUSED = { template: SOCKET_PATH, credits: LEAST_CREDITS };
const IDLE_SECONDS = 60;
/** Status of a dropped message: the socket's buffer was full, although nothing is sent into a full socket. */
const DROPPED = 2;
const SENT = 1;
const INTERNAL_ERROR = 1011;
const CLOSE_REFUSED = 4000;

export function registerPush(app: FramedRoutes, push: Push, options: DispatcherOptions): void {
  const behavior: WebSocketBehavior<SocketData> = {
    ...socketBehavior(push, options.api.logger),
    upgrade(res, req, context) {
      const query = req.getQuery() ?? '';
      const key = req.getHeader('sec-websocket-key');
      const protocol = req.getHeader('sec-websocket-protocol');
      const extensions = req.getHeader('sec-websocket-extensions');
      let connection: PushConnection | null = null;
      const opened = (made: PushConnection) => {
        connection = made;
      };
      const open = (share: NetworkShare) => {
        const cursor = new URLSearchParams(query).get('cursor');
        const first = cursor === null ? {} : { cursor };
        res.upgrade<SocketData>({ first, share, opened, connection: null }, key, protocol, extensions, context);
      };
      admitConnection(options, push.shares, res, req, SOCKET_PATH, {
        open: (_, share) => open(share),
        // A later upgrade sometimes closes at once (uWebSockets before 20.79: "Fix cork() closing a WebSocket …").
        openAtOnce(share) {
          open(share);
          return (error) => refuseConnection(connection, error, options.api.logger);
        },
      });
    },
  };
  for (const path of [SOCKET_PATH, `${SOCKET_PATH}/`]) {
    app.ws(path, behavior);
    app.any(path, (res, req, announced) => handleRequest(options, res, req, announced, REFUSED, refuseWithoutUpgrade));
  }
  registerStream(app, push, options);
}

const refuseWithoutUpgrade = refusing(
  () => new ApiError('invalid_request', 'this path is a WebSocket: ask for an upgrade, or read GET /api/stream'),
);

/** The close code is 4000 plus the status with which REST refuses the same request. */
function refuseConnection(connection: PushConnection | null, error: unknown, logger: Logger): void {
  const refusal = toApiError(error);
  if (isFault(error, refusal)) logger.error({ err: error }, 'a push client could not be admitted');
  connection?.closeWithError({ code: refusal.code, detail: refusal.message }, CLOSE_REFUSED + refusal.status);
}

/** Behaviour of accepted sockets. */
export function socketBehavior(
  push: Pick<Push, 'connect' | 'disconnect'>,
  logger: Logger,
): WebSocketBehavior<SocketData> {
  return {
    idleTimeout: IDLE_SECONDS,
    maxBackpressure: 0,
    maxPayloadLength: MAX_FRAME_BYTES,
    sendPingsAutomatically: true,
    open(ws) {
      const data = ws.getUserData();
      data.connection = push.connect(socketTransport(ws), data.first, data.share);
      data.opened?.(data.connection);
    },
    message(ws, bytes) {
      const { connection } = ws.getUserData();
      try {
        connection?.receive(new Uint8Array(bytes));
      } catch (err) {
        logger.error({ err }, 'a push message could not be handled');
        connection?.end(INTERNAL_ERROR, 'internal error');
      }
    },
    ping(ws, bytes) {
      ws.getUserData().connection?.ping(bytes.byteLength);
    },
    drain(ws) {
      if (ws.getBufferedAmount() === 0) ws.getUserData().connection?.drained();
    },
    close(ws) {
      const { connection } = ws.getUserData();
      if (connection) push.disconnect(connection);
    },
  };
}

function socketTransport(ws: WebSocket<SocketData>): Transport {
  return {
    send(json) {
      const status = ws.send(json, false, false);
      if (status === DROPPED) queueMicrotask(() => ws.getUserData().connection?.end(INTERNAL_ERROR, 'message dropped'));
      return status === SENT;
    },
    together(send) {
      ws.cork(send);
      return ws.getBufferedAmount() === 0;
    },
    buffered: () => ws.getBufferedAmount(),
    end: (code, reason) => ws.end(code, reason),
  };
}
