/** GET /api/stream: the push stream as server-sent events, for a browser's EventSource and for curl. */
import type { HttpResponse } from 'uWebSockets.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pace } from '../../infra/pace.ts';
import { LEAST_CREDITS } from '../access/bills.ts';
import { ApiError, invalidParameters, parameterError } from '../http/api-error.ts';
import { answerOptions, type DispatcherOptions } from '../http/dispatcher.ts';
import { handleRequest } from '../http/exchange.ts';
import { refusing } from '../http/fixed-answers.ts';
import type { FramedRoutes, Handler } from '../http/framed-routes.ts';
import { type HeaderLines, headerLines, joinLines } from '../http/header-lines.ts';
import { compileParameters, type ParameterValues, queryParameter } from '../http/parameters.ts';
import { endHead, writeHead } from '../http/reply.ts';
import { writtenDecimal } from '../schema/written-decimal.ts';
import { admitConnection } from './admit-connection.ts';
import type { SubscribeMessage } from './client-message.ts';
import { writtenConfirmations } from './client-message-schema.ts';
import { CursorInvalid, readCursor } from './cursor.ts';
import { filterSize, LISTS } from './filter-size.ts';
import { CURSOR_WORK, messageWork, SNAPSHOT_WORK } from './limits.ts';
import type { NetworkShare } from './network-share.ts';
import { STREAM_PATH } from './paths.ts';
import type { Push } from './push.ts';
import type { PushConnection } from './push-connection.ts';
import { CHANNELS } from './push-event.ts';
import { SubscriptionRefused } from './subscription-refused.ts';
import { createSubscriptionSet } from './subscription-set.ts';
import type { Transport } from './transport.ts';
import { writeEvent } from './write-event.ts';

const REFUSED = { template: STREAM_PATH, credits: LEAST_CREDITS };
const ALLOW = 'GET, HEAD, OPTIONS';
const refuseMethod = refusing(
  () => new ApiError('method_not_allowed', 'only GET and HEAD are served here', { headers: { Allow: ALLOW } }),
);
const text = { type: 'string', minLength: 1, maxLength: 4000 } as const;

export const streamParameters = {
  cursor: queryParameter('Continues after this message; the header Last-Event-ID has the same effect', text),
  channels: queryParameter(`Comma-separated, of ${CHANNELS.join(', ')}; blocks when it is not given`, text),
  chains: queryParameter('Comma-separated chain names; all when it is not given', text),
  currency: queryParameter(
    'Only with this currency: comma-separated names or i-addresses, in quotation marks if with commas',
    text,
  ),
  basket: queryParameter('Only of this basket: names or i-addresses, written as those of currency', text),
  identity: queryParameter('Only of this identity: names or i-addresses, written as those of currency', text),
  address: queryParameter('Only of this address: comma-separated', text),
  confirmations: queryParameter(
    "Further blocks that must follow an event's block before the event is sent",
    writtenConfirmations,
  ),
  snapshot: queryParameter(
    'Whether to send the state of prices, reserves and pending conversions first; not with a cursor',
    {
      type: 'boolean',
    },
  ),
  minUsd: queryParameter('Conversions of at least this value in USD, sent once it is known', writtenDecimal),
};

/** An SSE comment, which clients ignore. */
const COMMENT = ':\n\n';
const HEADERS = headerLines({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });

export function registerStream(app: FramedRoutes, push: Push, options: DispatcherOptions): void {
  const chains = options.api.config.chains.map((chain) => chain.name);
  const reader = compileParameters(streamParameters, chains);
  const serve =
    (isHead: boolean): Handler =>
    (res, req) => {
      const lastEventId = req.getHeader('last-event-id');
      const query = req.getQuery() ?? '';
      const read = () => firstSubscription(reader.read({}, query) as StreamValues, lastEventId);
      admitConnection(options, push.shares, res, req, STREAM_PATH, {
        open(headers, share, refuse) {
          let isGone = false;
          res.onAborted(() => {
            isGone = true;
            share.close();
          });
          const turn = (work: number) => waitForTurn(share.order(work), push.hub.messagePace);
          checked(read, query.length, turn, share, push).then(
            (first) => {
              if (isGone) return;
              if (isHead) answerHead(res, share, headers, options.unsent);
              else stream(res, push, first, share, headers);
            },
            (error: unknown) => isGone || refuse(asApiError(error)),
          );
        },
      });
    };
  for (const path of [STREAM_PATH, `${STREAM_PATH}/`]) {
    app.options(path, answerOptions(options, STREAM_PATH, ALLOW));
    app.get(path, serve(false));
    app.head(path, serve(true));
    app.any(path, (res, req, announced) => handleRequest(options, res, req, announced, REFUSED, refuseMethod));
  }
}

type StreamValues = ParameterValues<typeof streamParameters>;

function firstSubscription(values: StreamValues, lastEventId: string): First {
  const cursor = lastEventId || values.cursor;
  const lists = LISTS.flatMap((name) => (values[name] === undefined ? [] : [[name, list(values[name])] as const]));
  const filter = { ...Object.fromEntries(lists), ...(values.minUsd !== undefined && { minUsd: values.minUsd }) };
  return {
    channels: values.channels === undefined ? ['blocks'] : list(values.channels),
    ...(values.chains !== undefined && { chains: list(values.chains) }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(values.confirmations !== undefined && { confirmations: values.confirmations }),
    ...(values.snapshot !== undefined && { snapshot: values.snapshot }),
    ...(cursor !== undefined && { cursor }),
  };
}

/** A name that contains commas is written in quotation marks, which no name contains. */
const ENTRY = /(?:^|,)\s*(?:"([^"]*)"\s*(?=,|$)|([^,]*))/g;

function list(values: string): string[] {
  return Array.from(values.matchAll(ENTRY), ([, quoted, plain = '']) => (quoted ?? plain).trim());
}

type First = Omit<SubscribeMessage, 'op' | 'id'>;

/** A stream cannot change its status later, so errors are found before it begins; each step is charged before it runs. */
async function checked(
  read: () => First,
  bytes: number,
  turn: (work: number) => Promise<void>,
  share: NetworkShare,
  { hub }: Push,
): Promise<First> {
  await turn(messageWork(bytes));
  const first = read();
  if (first.cursor !== undefined) readCursor(first.cursor, hub.chains.length);
  const snapshot = first.snapshot ? SNAPSHOT_WORK : 0;
  await turn(filterSize(first.filter ?? {}).work + CURSOR_WORK + snapshot + hub.workOf(first.channels));
  await hub.readCurrencies(first.filter ?? {});
  const trial = createSubscriptionSet(hub, share, hub.places);
  trial.add(null, first, hub.places());
  trial.remove(null);
  return first;
}

async function waitForTurn(ms: number, pace: Pace): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { ref: false }); // a process that stops does not wait for it
  if (ms > 0 || pace.isSpent()) await pace.rest();
}

function asApiError(error: unknown): unknown {
  if (error instanceof CursorInvalid) {
    return parameterError('cursor', error.message, 'cursor_invalid');
  }
  if (error instanceof SubscriptionRefused) {
    // Parameters of a query are not nested in `filter`.
    const faults = error.details.errors ?? [];
    return invalidParameters(
      faults.map(({ pointer, detail }) => ({ pointer: pointer.replace('/filter', ''), detail })),
    );
  }
  return error;
}

function answerHead(
  res: HttpResponse,
  share: NetworkShare,
  limits: HeaderLines,
  unsent: DispatcherOptions['unsent'],
): void {
  share.close();
  res.cork(() => {
    writeHead(res, 200, joinLines(HEADERS, limits));
    endHead(res, unsent);
  });
}

function stream(res: HttpResponse, push: Push, first: First, share: NetworkShare, limits: HeaderLines): void {
  let isOpen = true;
  let connection: PushConnection | null = null;
  const transport: Transport = {
    send(json, type, cursor) {
      return isOpen ? writeEvent(res, json, type, cursor) : true;
    },
    together(send) {
      // send() reports when the response has not taken everything; a cork around all sends would hide that.
      send();
      return true;
    },
    buffered: () => 0,
    end() {
      if (!isOpen) return;
      isOpen = false;
      if (connection) push.disconnect(connection);
      res.cork(() => res.end());
    },
  };
  res.onAborted(() => {
    isOpen = false;
    if (connection) push.disconnect(connection);
  });
  res.cork(() => writeHead(res, 200, joinLines(HEADERS, limits)));
  connection = push.connect(transport, first, share);
  if (!isOpen) {
    push.disconnect(connection);
    return;
  }
  res.onWritable(() => {
    // uWebSockets.js sends the rest of what it has copied only with the next write.
    let isTaken = true;
    res.cork(() => {
      isTaken = res.write(COMMENT);
    });
    if (isTaken) connection?.drained();
    return true;
  });
}
