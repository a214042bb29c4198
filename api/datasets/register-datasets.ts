/**
 * Serves the data set on `/api/datasets/`, and as the S3 bucket `datasets` (anonymous, read-only, path style). Files need no query and cost no
 * credits, only bandwidth of the caller's network.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { type Config, datasetsFolder } from '../../schemas/config.ts';
import { type AnsweredClient, clientOf } from '../http/answered-client.ts';
import { ApiError } from '../http/api-error.ts';
import { answerOptions, type DispatcherOptions } from '../http/dispatcher.ts';
import type { FramedRoutes, Handler } from '../http/framed-routes.ts';
import { type HeaderLines, headerLines } from '../http/header-lines.ts';
import { problemReply, toApiError } from '../http/problem-reply.ts';
import { LEAST_PACE } from '../http/reader-pace.ts';
import { type Reply, writeReplyLater } from '../http/reply.ts';
import { requestId } from '../http/request-id.ts';
import { observeRequest } from '../http/request-seconds.ts';
import type { UnsentAnswers } from '../http/unsent-answers.ts';
import { type Bandwidth, createBandwidth, MOST_TRANSFERS } from './bandwidth.ts';
import { BYTES_PER_SECOND, type FileRate, limitRate } from './file-rate.ts';
import { createFolderAnswers, type FolderAnswers, type FolderRequest, numbersOf } from './folder-answers.ts';
import { BUCKET, InvalidListing, s3Error } from './s3-listing.ts';
import { type ObjectRequest, objectReply, sendObject } from './send-object.ts';
import { createServedFolder, type ServedFolder } from './served-folder.ts';

const TEMPLATE = '/api/datasets/*';
const REST = '/api/datasets';
const S3 = `/${BUCKET}`;
const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;
const ALLOW = 'GET, HEAD, OPTIONS';
/** Minimum price of a request in bytes of the allowance: `made` for the index, a listing or a manifest, `file` for anything else. */
const PRICES = { made: 256_000, file: 4_000 } as const;
/** Bytes of the shared rate of all files that a request's work takes: enough for 40 listings or 1,280 requests without a result a second. */
const RATE_PRICES = { made: 2 ** 19, file: 2 ** 14 } as const;

/** Request fields, read before the first await because uWebSockets.js invalidates the request afterwards. */
interface DatasetRequest extends ObjectRequest, FolderRequest {
  readonly method: string;
  /** Below the folder; empty for the folder itself. */
  readonly path: string;
  readonly url: string;
  readonly network: string;
  readonly requestId: string;
}

interface Exchange {
  readonly res: HttpResponse;
  readonly asked: DatasetRequest;
  readonly client: AnsweredClient;
}

interface Serving {
  readonly folder: ServedFolder;
  readonly answers: FolderAnswers;
  readonly bandwidth: Bandwidth;
  readonly fileRate: FileRate;
  readonly unsent: UnsentAnswers;
}

type Options = DispatcherOptions & { readonly config: Config };

export function registerDatasets(app: FramedRoutes, options: Options): void {
  const { config, access, underWay, unsent } = options;
  const folder = createServedFolder(datasetsFolder(config));
  const bandwidth = createBandwidth(config.datasets.bytesPerHour);
  const fileRate = limitRate(BYTES_PER_SECOND);
  const serving = { folder, answers: createFolderAnswers(folder), bandwidth, fileRate, unsent };

  const begin = (res: HttpResponse, req: HttpRequest, isS3: boolean) => {
    const asked = readRequest(req, isS3, config.datasets.url, access.readVisitor(res, req).network);
    const exchange: Exchange = { res, asked, client: clientOf(res) };
    const started = performance.now();
    const observe = (status: number) =>
      observeRequest(TEMPLATE, asked.method, status, (performance.now() - started) / 1000);
    return { exchange, observe };
  };

  const serve =
    (isS3: boolean): Handler =>
    (res, req) => {
      const { exchange, observe } = begin(res, req, isS3);
      underWay.count += 1;
      underWay.sending += 1;
      answer(exchange, serving)
        .catch((error: unknown) => refuse(exchange, error, options))
        .then((status) => observe(exchange.client.aborted ? 499 : status))
        .finally(() => {
          underWay.count -= 1;
          underWay.sending -= 1;
        });
    };

  for (const [root, isS3] of [
    [REST, false],
    [S3, true],
  ] as const) {
    for (const pattern of [root, `${root}/*`]) {
      app.get(pattern, serve(isS3));
      app.head(pattern, serve(isS3));
      app.options(pattern, answerOptions(options, TEMPLATE, ALLOW));
      app.any(pattern, (res, req, announced) => {
        const { exchange, observe } = begin(res, req, isS3);
        const methodRefused = new ApiError('method_not_allowed', `only ${ALLOW} are allowed here`, {
          headers: { Allow: ALLOW },
        });
        const refusal = charge(bandwidth, exchange.asked) ?? methodRefused;
        const closes = announced === 'chunked'; // the end of a chunked body is ambiguous
        const answerNow = () => observe(refuse(exchange, refusal, options, closes));
        // Waits until uWebSockets.js has parsed all that it has read: otherwise it would serve the requests behind this one.
        if (closes) setImmediate(answerNow);
        else answerNow();
      });
    }
  }
}

function readRequest(req: HttpRequest, isS3: boolean, url: string | null, network: string): DatasetRequest {
  const host = req.getHeader('host');
  const path = req.getUrl();
  return {
    isS3,
    method: req.getMethod(),
    isHead: req.getMethod() === 'head',
    path: decoded(path.slice((isS3 ? S3 : REST).length).replace(/^\//, '')),
    url: path,
    query: req.getQuery() ?? '',
    origin: url ?? `http://${HOST.test(host) ? host : 'localhost'}`,
    network,
    range: req.getHeader('range'),
    ifRange: req.getHeader('if-range'),
    ifNoneMatch: req.getHeader('if-none-match'),
    requestId: requestId(req.getHeader('x-request-id')),
  };
}

/** Returns a path that is not valid percent-encoding unchanged: no file has such a name. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function answer(exchange: Exchange, serving: Serving): Promise<number> {
  const { asked, client } = exchange;
  const { bandwidth, fileRate } = serving;
  const refusal = charge(bandwidth, asked);
  if (refusal) throw refusal;
  if (!bandwidth.begin(asked.network)) {
    const most = MOST_TRANSFERS.network;
    throw bandwidthUsed(
      `a network may fetch at most ${most} files at once, fewer while many networks do: wait until one is done`,
      1,
    );
  }
  try {
    await fileRate(asked.network, 0, RATE_PRICES[kindOf(asked.path)]);
    if (client.aborted) return 499;
    const base = `${asked.origin}${REST}/`;
    return await (asked.path === '' ? answerFolder(exchange, serving, base) : answerObject(exchange, serving, base));
  } finally {
    bandwidth.end(asked.network);
  }
}

async function answerObject({ res, asked, client }: Exchange, serving: Serving, base: string): Promise<number> {
  const { folder, bandwidth, fileRate, unsent } = serving;
  const object =
    (await folder.file(asked.path)) ??
    (await folder.manifest(asked.path, base, asked.isS3 ? 'json' : numbersOf(asked)));
  if (!object) throw new ApiError('not_found', `the data set has no ${asked.path}: ${REST}/ lists its tables`);
  const reply = objectReply(object, asked);
  const more = Math.max(0, reply.cost - priceOf(asked.path));
  bandwidth.takeMore(asked.network, more);
  let sent = 0;
  try {
    const pace = { letGo: (bytes: number) => fileRate(asked.network, bytes), least: LEAST_PACE };
    sent = await sendObject(res, object, reply, asked.isHead, client, ownLines(asked), pace, unsent, asked);
  } finally {
    // A manifest costs its full price even if its client reads only a part: only files are refunded.
    if (sent < reply.bytes && 'file' in object.content)
      bandwidth.giveBack(asked.network, Math.min(more, reply.bytes - sent));
  }
  return reply.status;
}

async function answerFolder(
  { res, asked, client }: Exchange,
  { answers, bandwidth, unsent }: Serving,
  base: string,
): Promise<number> {
  const { body, type } = await answers(asked, base);
  bandwidth.takeMore(asked.network, asked.isHead ? 0 : Math.max(0, body.length - priceOf(asked.path)));
  const headers = headerLines({ 'Content-Type': type, 'Cache-Control': 'no-cache' });
  if (!client.aborted)
    writeReplyLater(res, { status: 200, headers, body }, ownLines(asked), asked.isHead, unsent, asked);
  return 200;
}

/** `made` answers take milliseconds to make, however little of them is sent. */
const kindOf = (path: string): keyof typeof PRICES => (path === '' || path.endsWith('.json') ? 'made' : 'file');
const priceOf = (path: string): number => PRICES[kindOf(path)];

/** Charges the price before any work, whatever the answer will be. Returns null when it was paid. */
function charge(bandwidth: Bandwidth, { path, network }: DatasetRequest): ApiError | null {
  const retryAfter = bandwidth.take(network, priceOf(path));
  if (retryAfter === 0) return null;
  const message = `this network has used up its hourly allowance of bytes of the data set: ask again in ${retryAfter} s`;
  return bandwidthUsed(message, retryAfter);
}

function bandwidthUsed(message: string, retryAfter: number): ApiError {
  const headers = { 'Retry-After': String(retryAfter) };
  return new ApiError('bandwidth_used', message, { members: { retryAfter }, headers });
}

function refuse({ res, asked, client }: Exchange, error: unknown, { api, unsent }: Options, closes = false): number {
  const info = { ...asked, parts: '', host: '', accept: '', acceptEncoding: '', charge: async () => null };
  const cause = error instanceof InvalidListing ? new ApiError('invalid_parameter', error.message) : error;
  const reply = { ...problemReply(cause, info, api.logger), closes };
  const shown = asked.isS3 ? inXml(reply, toApiError(cause), asked) : reply;
  if (!client.aborted) writeReplyLater(res, shown, ownLines(asked), asked.isHead, unsent, asked);
  return reply.status;
}

const S3_CODES: Readonly<Record<number, string>> = {
  400: 'InvalidArgument',
  404: 'NoSuchKey',
  405: 'MethodNotAllowed',
  429: 'SlowDown',
};

/** `refusal`: the error that the reply states. */
function inXml(reply: Reply, { message }: ApiError, { url }: DatasetRequest): Reply {
  const headers = reply.headers.replace('application/problem+json', 'application/xml') as HeaderLines;
  return { ...reply, headers, body: Buffer.from(s3Error(S3_CODES[reply.status] ?? 'InternalError', message, url)) };
}

const ownLines = ({ requestId: id }: DatasetRequest): HeaderLines => headerLines({ 'X-Request-Id': id });
