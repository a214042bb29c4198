/** /api/openapi.json, /api/asyncapi.json, and /api/docs, a page that shows the OpenAPI document without external resources. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { getOrInsert } from '../../../domain/get-or-insert.ts';
import type { ApiContext } from '../../api-context.ts';
import { asyncApiDocument } from '../../asyncapi/document.ts';
import { streamPart } from '../../asyncapi/stream-part.ts';
import { webhookPart } from '../../asyncapi/webhook-part.ts';
import { liveRoute, type Route } from '../../http/route.ts';
import { openApiDocument } from '../../openapi/document.ts';
import { readExamples } from '../../openapi/examples.ts';
import { apiDocument, asyncDocument } from './schema.ts';

const FREE = { parameters: {}, weight: 0, cache: 'none' } as const;
/** A short lifetime, because the files change with the release. */
const CACHED = { 'Cache-Control': 'public, max-age=3600' };

/** No other host is contacted or may frame the page; Swagger UI needs inline styles. */
const POLICY = `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;
  connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`.replace(
  /\s+/g,
  ' ',
);

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>verustream API</title>
<link rel="icon" type="image/png" href="/api/docs/favicon-32x32.png">
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<noscript><p>This page needs JavaScript; <a href="/api/openapi.json">/api/openapi.json</a> contains all that it shows.</p></noscript>
<div id="docs"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/api/openapi.json',
  domNode: document.getElementById('docs'),
  deepLinking: true,
  filter: true,
  displayRequestDuration: true,
  showExtensions: true,
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
});
`;

const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

function asset(name: keyof typeof ASSETS): Route {
  const contentType = ASSETS[name];
  const file = createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
  let body: Uint8Array | undefined;
  return liveRoute({
    ...FREE,
    path: `/api/docs/${name}`,
    summary: 'Part of the documentation page',
    response: {},
    produces: contentType,
    async handler() {
      body ??= readFileSync(file);
      return { contentType, headers: CACHED, body };
    },
  });
}

function text(path: string, contentType: string, body: string, headers: Readonly<Record<string, string>>): Route {
  const summary = 'Documentation of the API as a page';
  const bytes = Buffer.from(body);
  const handler = async () => ({ contentType, headers, body: bytes });
  return liveRoute({ ...FREE, path, summary, response: { type: 'string' }, produces: contentType, handler });
}

/** The page and its parts, which the OpenAPI document does not describe. */
export const docsPage = text('/api/docs', 'text/html; charset=utf-8', PAGE, {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'public, no-cache',
});
export const docsParts: readonly Route[] = [
  text('/api/docs/start.js', 'text/javascript; charset=utf-8', START, CACHED),
  ...(Object.keys(ASSETS) as (keyof typeof ASSETS)[]).map(asset),
];

const asyncParts = [streamPart, webhookPart];

export const asyncDocumentRoute = liveRoute({
  ...FREE,
  path: '/api/asyncapi.json',
  summary: 'The messages that this service pushes, as an AsyncAPI 3.0 document',
  response: asyncDocument,
  async handler({ api }) {
    const body = asyncApiDocument({ parts: asyncParts, version: api.release });
    return { body, headers: { 'Cache-Control': 'public, no-cache' } };
  },
});

/** The route of the OpenAPI document, which describes the given routes and itself. */
export function documentRoute(others: readonly Route[]) {
  const routes = [...others];
  const made = new WeakMap<ApiContext['config'], Uint8Array>();
  const documentOf = ({ config, release }: ApiContext) => {
    const chains = config.chains.map((chain) => chain.name);
    return openApiDocument({ routes, chains, version: release, examples: readExamples() });
  };
  const route = liveRoute({
    ...FREE,
    path: '/api/openapi.json',
    summary: 'This API as an OpenAPI 3.1 document',
    response: apiDocument,
    async handler({ api }) {
      const body = getOrInsert(made, api.config, () => Buffer.from(`${JSON.stringify(documentOf(api))}\n`));
      return { body, headers: { 'Cache-Control': 'public, no-cache' } };
    },
  });
  routes.push(route);
  return route;
}
