/** GET /api/stream: the push stream as server-sent events, for a browser's EventSource and for curl. */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { LEAST_CREDITS } from '../access/gate.ts';
import { ApiError, invalidParameters } from '../http/api-error.ts';
import { type DispatcherOptions, preflight } from '../http/dispatcher.ts';
import { handleRequest } from '../http/exchange.ts';
import { type HeaderLines, headerLines, joinLines } from '../http/header-lines.ts';
import { compileParameters, type ParameterValues, queryParameter } from '../http/parameters.ts';
import { writeHead } from '../http/reply.ts';
import { admitConnection } from './admit-connection.ts';
import type { SubscribeMessage } from './client-message.ts';
import type { Transport } from './connection.ts';
import { CursorInvalid, decodePlaces } from './cursor.ts';
import type { Push } from './push.ts';
import { CHANNELS } from './push-event.ts';
import { createSubscription, SubscriptionRefused } from './subscription.ts';

const PATH = '/api/stream';
const REFUSED = { template: PATH, credits: LEAST_CREDITS, tier: null };
const ALLOW = 'GET, OPTIONS';
const text = { type: 'string', minLength: 1, maxLength: 4000 } as const;

export const streamParameters = {
  cursor: queryParameter('Goes on after this message; the Last-Event-ID header says the same', text),
  channels: queryParameter(`Comma-separated, of ${CHANNELS.join(', ')}; blocks when it is not given`, text),
  chains: queryParameter('Comma-separated chain names; all when it is not given', text),
  currency: queryParameter('Only with this currency: comma-separated names or i-addresses', text),
  basket: queryParameter('Only of this basket: comma-separated names or i-addresses', text),
  identity: queryParameter('Only of this identity: comma-separated names or i-addresses', text),
  address: queryParameter('Only of this address: comma-separated', text),
  minUsd: queryParameter('Conversions of at least this value in USD, told once it is known', {
    type: 'number',
    minimum: 0,
  }),
};

const HEADERS = headerLines({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });

export function registerStream(app: TemplatedApp, push: Push, options: DispatcherOptions): void {
  const chains = options.api.config.chains.map((chain) => chain.name);
  const reader = compileParameters(streamParameters, chains);
  for (const path of [PATH, `${PATH}/`]) {
    app.options(path, (res) => preflight(res, ALLOW));
    app.get(path, (res, req) => {
      const lastEventId = req.getHeader('last-event-id');
      let first: Omit<SubscribeMessage, 'op' | 'id'>;
      try {
        first = firstSubscription(reader.read({}, req.getQuery() ?? '') as StreamValues, lastEventId);
        check(first, push);
      } catch (error) {
        handleRequest(options, res, req, REFUSED, () => Promise.reject(asApiError(error)));
        return;
      }
      admitConnection(options, res, req, PATH, { open: (headers) => stream(res, push, first, headers) });
    });
    app.any(path, (res, req) => {
      const refusal = new ApiError('method_not_allowed', 'only GET is served here', { headers: { Allow: ALLOW } });
      handleRequest(options, res, req, REFUSED, () => Promise.reject(refusal));
    });
  }
}

type StreamValues = ParameterValues<typeof streamParameters>;

function firstSubscription(values: StreamValues, lastEventId: string): Omit<SubscribeMessage, 'op' | 'id'> {
  const cursor = lastEventId || values.cursor;
  const names = ['currency', 'basket', 'identity', 'address'] as const;
  const lists = names.flatMap((name) => (values[name] === undefined ? [] : [[name, list(values[name])] as const]));
  const filter = { ...Object.fromEntries(lists), ...(values.minUsd !== undefined && { minUsd: values.minUsd }) };
  return {
    channels: values.channels === undefined ? ['blocks'] : list(values.channels),
    ...(values.chains !== undefined && { chains: list(values.chains) }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(cursor !== undefined && { cursor }),
  };
}

function list(values: string): string[] {
  return values.split(',').map((value) => value.trim());
}

/** A stream cannot take its status back, so what is wrong is found before it begins. */
function check(first: Omit<SubscribeMessage, 'op' | 'id'>, { hub }: Push): void {
  if (first.cursor !== undefined) decodePlaces(first.cursor);
  createSubscription(first, hub.chains, hub.idsOf, hub.places());
}

function asApiError(error: unknown): unknown {
  if (error instanceof CursorInvalid) {
    return new ApiError('cursor_invalid', error.message, { errors: [{ pointer: '/cursor', detail: error.message }] });
  }
  if (error instanceof SubscriptionRefused) {
    // A query has no members within members.
    const faults = error.details.errors ?? [];
    return invalidParameters(
      faults.map(({ pointer, detail }) => ({ pointer: pointer.replace('/filter', ''), detail })),
    );
  }
  return error;
}

function stream(res: HttpResponse, push: Push, first: Omit<SubscribeMessage, 'op' | 'id'>, limits: HeaderLines): void {
  let isOpen = true;
  const transport: Transport = {
    send(json, type, cursor) {
      let sent = true;
      if (!isOpen) return sent;
      res.cork(() => {
        res.write(`id: ${cursor}\nevent: ${type}\ndata: `);
        res.write(json);
        sent = res.write('\n\n');
      });
      return sent;
    },
    together(send) {
      // The response says by send() when it has not taken everything; a cork around all is not told that.
      send();
      return true;
    },
    buffered: () => 0,
    end() {
      if (!isOpen) return;
      isOpen = false;
      push.disconnect(connection);
      res.cork(() => res.end());
    },
  };
  res.onAborted(() => {
    isOpen = false;
    push.disconnect(connection);
  });
  res.cork(() => writeHead(res, 200, joinLines(HEADERS, limits)));
  const connection = push.connect(transport, first);
  res.onWritable(() => {
    connection.drained();
    return true;
  });
}
