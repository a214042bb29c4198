/**
 * Serves the page and its files on GET and HEAD of every address that no other part of the service has. They come from memory and are not
 * charged: the ten files of one page view would otherwise use a tenth of a reader's allowance.
 */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Config } from '../../schemas/config.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';
import type { Access } from '../access/access.ts';
import { chooseEncoding, compressed } from '../http/compression.ts';
import type { FramedRoutes, Handler } from '../http/framed-routes.ts';
import { NO_LINES } from '../http/header-lines.ts';
import { type AnsweredNetwork, type Reply, writeReply, writeReplyLater } from '../http/reply.ts';
import { observeRequest } from '../http/request-seconds.ts';
import type { UnsentAnswers } from '../http/unsent-answers.ts';
import type { PageBuild } from './page-build.ts';
import { assetHeaders, documentHeaders } from './page-headers.ts';
import { noPageHtml, pageHtml, UNKNOWN_ADDRESS } from './page-html.ts';
import type { BuiltPage, PageSource, ServiceFacts } from './page-source.ts';

export interface PageOptions {
  readonly source: Pick<PageSource, 'describe'>;
  readonly build: PageBuild;
  readonly config: Config;
  readonly release: string;
  readonly logger: Logger;
  readonly access: Pick<Access, 'readVisitor'>;
  readonly unsent: UnsentAnswers;
}

/** Request fields, read before the first await because uWebSockets.js invalidates the request afterwards. */
interface PageRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly wantsHtml: boolean;
  readonly acceptEncoding: string;
  readonly ifNoneMatch: string;
  readonly visitor: AnsweredNetwork;
}

const ASSETS = '/assets/';
/** Paths of other parts of the service. */
const NOT_OF_THE_PAGE = /^\/(api|rpc|metrics)(\/|$)/;
/** Hosts that serve only JSON-RPC. */
const RPC_HOST = /^(rpc\.|[^.]*\.rpc\.)/i;
const COMPILING_MS = 2_000;

export function registerPage(app: FramedRoutes, options: PageOptions): void {
  const facts = serviceFacts(options);
  const serve: Handler = (res, req, announced) => {
    const path = req.getUrl();
    if (announced !== 0 || NOT_OF_THE_PAGE.test(path) || RPC_HOST.test(req.getHeader('host'))) {
      req.setYield(true);
      return;
    }
    const asked = readRequest(req, path, options.access.readVisitor(res, req));
    if (path.startsWith(ASSETS)) serveAsset(res, req, asked, options);
    else serveDocument(res, req, asked, options, facts);
  };
  app.get('/*', serve);
  app.head('/*', serve);
}

function readRequest(req: HttpRequest, path: string, visitor: AnsweredNetwork): PageRequest {
  return {
    method: req.getMethod(),
    path,
    query: req.getQuery() ?? '',
    wantsHtml: req.getHeader('accept').includes('text/html'),
    acceptEncoding: req.getHeader('accept-encoding'),
    ifNoneMatch: req.getHeader('if-none-match'),
    visitor,
  };
}

function serveAsset(res: HttpResponse, req: HttpRequest, asked: PageRequest, { build, unsent }: PageOptions): void {
  const { state } = build;
  const file = typeof state === 'string' ? undefined : state.files.get(asked.path.slice(ASSETS.length));
  if (!file) {
    req.setYield(true); // the fallback answers 404 and charges it: the current document does not name the file
    return;
  }
  const encoding = chooseEncoding(asked.acceptEncoding);
  const body = encoding === null ? file.body : file[encoding];
  const reply = { status: 200, headers: assetHeaders(file.type, encoding), body, isLasting: true };
  observeRequest('page', asked.method, 200, 0);
  writeReply(res, reply, NO_LINES, asked.method === 'head', unsent, asked.visitor);
}

function serveDocument(
  res: HttpResponse,
  req: HttpRequest,
  asked: PageRequest,
  { source, build, logger, unsent }: PageOptions,
  facts: ServiceFacts,
): void {
  const known = source.describe(
    asked.path,
    asked.query,
    facts.chains.map(({ name }) => name),
  );
  if (!known && !asked.wantsHtml) {
    req.setYield(true);
    return;
  }
  void asked.visitor.network; // it cannot be read later
  const client = { aborted: false };
  res.onAborted(() => {
    client.aborted = true;
  });
  const started = performance.now();
  const make = async (): Promise<Reply> => {
    const page = build.state === 'compiling' ? await build.settled(COMPILING_MS) : build.state;
    if (typeof page === 'string') return withoutPage(page);
    return documentReply(asked, pageHtml(known ?? UNKNOWN_ADDRESS, page, facts), known ? 200 : 404);
  };
  const answer = (reply: Reply) => {
    observeRequest('page', asked.method, reply.status, (performance.now() - started) / 1000);
    if (!client.aborted) writeReplyLater(res, reply, NO_LINES, asked.method === 'head', unsent, asked.visitor);
  };
  make().then(answer, (err: unknown) => {
    logger.error({ err, path: asked.path }, 'the page could not be written');
    answer(withoutPage('unavailable'));
  });
}

/** By ETag. compressed() keeps the compressed forms of a body as long as this cache keeps it. All unknown addresses share one document. */
const documents = new LRUCache<string, Buffer>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: ({ length }) => 2 * length,
});

async function documentReply(
  { acceptEncoding, ifNoneMatch }: PageRequest,
  html: string,
  status: number,
): Promise<Reply> {
  const etag = `W/"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`;
  const kept = { 'Cache-Control': 'no-cache', ETag: etag };
  if (status === 200 && ifNoneMatch.split(',').some((tag) => tag.trim() === etag)) {
    return { status: 304, headers: documentHeaders(kept), body: null };
  }
  const encoding = chooseEncoding(acceptEncoding);
  const plain = getOrInsert<string, Buffer>(documents, etag, () => Buffer.from(html));
  if (encoding === null) return { status, headers: documentHeaders(kept), body: plain };
  const headers = documentHeaders({ ...kept, 'Content-Encoding': encoding });
  return { status, headers, body: await compressed(plain, encoding) };
}

const REASONS = {
  compiling: 'The page is being compiled: try again in a second.',
  unavailable: 'This service has no page: its compiler, esbuild, does not run on this machine. The log says why.',
} as const;

function withoutPage(why: Exclude<BuiltPage | keyof typeof REASONS, BuiltPage>): Reply {
  const retry = why === 'compiling' ? { 'Retry-After': '1' } : {};
  const headers = documentHeaders({ 'Cache-Control': 'no-store', ...retry });
  return { status: 503, headers, body: Buffer.from(noPageHtml(REASONS[why])) };
}

function serviceFacts({ config, release }: Pick<PageOptions, 'config' | 'release'>): ServiceFacts {
  return {
    version: release,
    recordings: config.recordings,
    chains: config.chains.map((chain) => ({
      name: chain.name,
      nativeId: nativeCurrencyId(chain),
      nativeName: chain.rootCurrency,
      blockSeconds: chain.blockSeconds,
    })),
    keylessRequestsPerMinute: config.keylessRequestsPerMinute,
    creditsPerMinute: config.tiers,
  };
}
