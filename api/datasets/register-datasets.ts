/**
 * The data set on `/api/datasets/`, and as the S3 bucket `datasets` (anonymous, read-only, path style). Files are served as files: no query,
 * no credits, only the bandwidth of the caller's network.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { type Config, datasetsFolder } from '../../schemas/config.ts';
import { DATASET_SCHEMA_VERSION } from '../../schemas/datasets/manifest.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { ApiError } from '../http/api-error.ts';
import { answerOptions, type DispatcherOptions } from '../http/dispatcher.ts';
import type { FramedRoutes, Handler } from '../http/framed-routes.ts';
import { type HeaderLines, headerLines } from '../http/header-lines.ts';
import { numbersAsText, SHARED_PARAMETERS, TEXT_NUMBERS_TYPE } from '../http/numbers.ts';
import { compileParameters } from '../http/parameters.ts';
import { problemReply } from '../http/problem-reply.ts';
import { type Reply, writeReplyLater } from '../http/reply.ts';
import { requestId } from '../http/request-id.ts';
import { observeRequest } from '../http/request-seconds.ts';
import type { datasetIndex } from '../rest/datasets/schema.ts';
import type { Typed } from '../schema/json-schema.ts';
import { type Bandwidth, createBandwidth, MOST_TRANSFERS } from './bandwidth.ts';
import { BYTES_PER_SECOND, type FileRate, limitRate } from './file-rate.ts';
import { BUCKET, bucketLocation, InvalidListing, listObjects, s3Error } from './s3-listing.ts';
import { type ObjectClient, type ObjectRequest, objectReply, sendObject } from './send-object.ts';
import { createServedFolder, type ManifestForm, type ServedFolder } from './served-folder.ts';

const TEMPLATE = '/api/datasets/*';
const REST = '/api/datasets';
const S3 = `/${BUCKET}`;
const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;
const ALLOW = 'GET, HEAD, OPTIONS';
/** The index and the manifests take them; a file is itself whatever is asked for. */
const dataParameters = compileParameters(SHARED_PARAMETERS, []);

/** The parts of a request that are needed; uWebSockets.js lets them be read only before the first await. */
interface DatasetRequest extends ObjectRequest {
  readonly isS3: boolean;
  readonly method: string;
  /** Below the folder; empty for the folder itself. */
  readonly path: string;
  readonly url: string;
  readonly query: string;
  /** The service as this client reaches it. */
  readonly origin: string;
  readonly network: string;
  readonly requestId: string;
}

interface Exchange {
  readonly res: HttpResponse;
  readonly asked: DatasetRequest;
  readonly client: ObjectClient;
}

type Options = DispatcherOptions & { readonly config: Config };

export function registerDatasets(app: FramedRoutes, options: Options): void {
  const { config, access, underWay, api } = options;
  const folder = createServedFolder(datasetsFolder(config));
  const bandwidth = createBandwidth(config.datasets.bytesPerHour);
  const fileRate = limitRate(BYTES_PER_SECOND);

  const serve =
    (isS3: boolean): Handler =>
    (res, req) => {
      const asked = readRequest(req, isS3, config.datasets.url, access.readVisitor(res, req).network);
      const client = { aborted: false, onGone: () => {} };
      res.onAborted(() => {
        client.aborted = true;
        client.onGone();
      });
      const started = performance.now();
      underWay.count += 1;
      underWay.sending += 1;
      const exchange = { res, asked, client };
      answer(exchange, folder, bandwidth, fileRate)
        .catch((error: unknown) => refuse(exchange, error, api.logger))
        .then((status) =>
          observeRequest(TEMPLATE, asked.method, client.aborted ? 499 : status, (performance.now() - started) / 1000),
        )
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
      app.any(pattern, (res, req) => {
        const asked = readRequest(req, isS3, config.datasets.url, '');
        const error = new ApiError('method_not_allowed', `only ${ALLOW} are allowed here`, {
          headers: { Allow: ALLOW },
        });
        res.onAborted(() => {});
        refuse({ res, asked, client: { aborted: false, onGone: () => {} } }, error, api.logger);
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

/** A path that is not percent-encoded text stays as it is, and names no file. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function answer(
  exchange: Exchange,
  folder: ServedFolder,
  bandwidth: Bandwidth,
  fileRate: FileRate,
): Promise<number> {
  const { asked } = exchange;
  const base = `${asked.origin}${REST}/`;
  if (asked.path === '') return answerFolder(exchange, folder, bandwidth, base);
  const object =
    (await folder.file(asked.path)) ??
    (await folder.manifest(asked.path, base, asked.isS3 ? 'json' : numbersOf(asked)));
  if (!object) throw new ApiError('not_found', `the data set has no ${asked.path}: ${REST}/ lists its tables`);
  const reply = objectReply(object, asked);
  take(bandwidth, asked.network, reply.cost);
  if (!bandwidth.begin(asked.network)) {
    bandwidth.giveBack(asked.network, reply.cost);
    const { network, all } = MOST_TRANSFERS;
    throw bandwidthUsed(
      `a network fetches ${network} files at once, and all networks ${all}: wait until one is done`,
      1,
    );
  }
  let sent = 0;
  try {
    sent = await sendObject(exchange.res, object, reply, asked.isHead, exchange.client, ownLines(asked), fileRate);
  } finally {
    bandwidth.end(asked.network);
    if (sent < reply.bytes) bandwidth.giveBack(asked.network, reply.cost - sent);
  }
  return reply.status;
}

/** The index of the tables; of the bucket its listing. */
async function answerFolder(
  { res, asked, client }: Exchange,
  folder: ServedFolder,
  bandwidth: Bandwidth,
  base: string,
): Promise<number> {
  const { text, type } = asked.isS3 ? await listing(asked, folder, base) : await indexAnswer(asked, folder, base);
  const body = Buffer.from(text);
  take(bandwidth, asked.network, asked.isHead ? 0 : body.length);
  const headers = headerLines({ 'Content-Type': type, 'Cache-Control': 'no-cache' });
  if (!client.aborted) writeReplyLater(res, { status: 200, headers, body }, ownLines(asked), asked.isHead);
  return 200;
}

async function listing({ query }: DatasetRequest, folder: ServedFolder, base: string) {
  const parameters = new URLSearchParams(query);
  const text = parameters.has('location') ? bucketLocation() : listObjects(await folder.objects(), base, parameters);
  return { text, type: 'application/xml' };
}

async function indexAnswer(asked: DatasetRequest, folder: ServedFolder, base: string) {
  const isText = numbersOf(asked) === 'text';
  const whole = index(await folder.manifests(), base, asked.origin);
  const text = `${JSON.stringify(isText ? numbersAsText(whole) : whole, null, 1)}\n`;
  return { text, type: isText ? TEXT_NUMBERS_TYPE : 'application/json' };
}

/** @throws ApiError invalid_parameter */
function numbersOf({ query }: DatasetRequest): ManifestForm {
  return dataParameters.read({}, query).numbers === 'text' ? 'text' : 'json';
}

function index(
  manifests: Awaited<ReturnType<ServedFolder['manifests']>>,
  base: string,
  origin: string,
): Typed<typeof datasetIndex> {
  return {
    schemaVersion: DATASET_SCHEMA_VERSION,
    s3: {
      endpoint: origin.replace(/^https?:\/\//, ''),
      bucket: BUCKET,
      urlStyle: 'path',
      useSsl: origin.startsWith('https:'),
    },
    tables: DATASET_TABLES.map(({ name, summary, columns }) => {
      const manifest = manifests.find(({ table }) => table === name);
      return {
        table: name,
        summary,
        manifest: `${base}${name}.json`,
        files: manifest?.files.length ?? 0,
        rows: manifest?.sums.rows ?? 0,
        bytes: manifest?.sums.bytes ?? 0,
        columns: columns.map(({ name: column, type, unit, text }) => ({ name: column, type, unit, text })),
      };
    }),
  };
}

/** @throws ApiError bandwidth_used */
function take(bandwidth: Bandwidth, network: string, bytes: number): void {
  const retryAfter = bandwidth.take(network, bytes);
  if (retryAfter === 0) return;
  const message = `this network has fetched as much of the data set as it may in an hour: ask again in ${retryAfter} s`;
  throw bandwidthUsed(message, retryAfter);
}

function bandwidthUsed(message: string, retryAfter: number): ApiError {
  const headers = { 'Retry-After': String(retryAfter) };
  return new ApiError('bandwidth_used', message, { members: { retryAfter }, headers });
}

function refuse({ res, asked, client }: Exchange, error: unknown, logger: DispatcherOptions['api']['logger']): number {
  const info = { ...asked, parts: '', host: '', accept: '', acceptEncoding: '', charge: async () => null };
  const cause = error instanceof InvalidListing ? new ApiError('invalid_parameter', error.message) : error;
  const reply = problemReply(cause, info, logger);
  if (!client.aborted) writeReplyLater(res, asked.isS3 ? inXml(reply, asked) : reply, ownLines(asked), asked.isHead);
  return reply.status;
}

const S3_CODES: Readonly<Record<number, string>> = {
  400: 'InvalidArgument',
  404: 'NoSuchKey',
  405: 'MethodNotAllowed',
  429: 'SlowDown',
};

function inXml(reply: Reply, { url }: DatasetRequest): Reply {
  const { detail = '' } = JSON.parse(Buffer.from(reply.body ?? []).toString()) as { detail?: string };
  const headers = reply.headers.replace('application/problem+json', 'application/xml') as HeaderLines;
  return { ...reply, headers, body: Buffer.from(s3Error(S3_CODES[reply.status] ?? 'InternalError', detail, url)) };
}

const ownLines = ({ requestId: id }: DatasetRequest): HeaderLines => headerLines({ 'X-Request-Id': id });
