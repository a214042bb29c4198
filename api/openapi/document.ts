/** OpenAPI 3.1 document, made only from the route table: paths, parameters, answers and costs. */

import { methodOf, type Route } from '../http/route.ts';
import { problem } from '../schema/problem.ts';
import { HEADERS } from './headers.ts';
import { linksOf } from './links.ts';
import { ERROR_STATUSES, type Examples, operationOf, problemResponse } from './operation.ts';

export interface DocumentOptions {
  readonly routes: readonly Route[];
  /** Allowed values of the `chain` parameter; when empty, any text. */
  readonly chains: readonly string[];
  readonly version: string;
  readonly examples: Examples;
}

const DESCRIPTION = `Blocks, transactions, addresses, identities, currencies, conversions with USD values, market data, oracle prices
and statistics of Verus chains.

- Amounts are coins with exactly 8 decimals: read them as decimals, since a double cannot represent all of them.
- Lists are read page by page with \`nextCursor\`: no row is repeated or left out while blocks arrive, and a request gets 409 when a
  reorganisation removed the block of its cursor.
- Answers carry an \`ETag\` and, in \`X-Chain-State\`, the height and hash of the block that they were computed at. No reorganisation
  removes a block up to the height \`finalized\` there.
- Errors are \`application/problem+json\` (RFC 9457) with a stable \`code\`; /api/errors explains each.
- \`x-credits\` is the cost of a request, \`x-tier\` the lowest tier that may send it.`;

const securitySchemes = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key; without one the allowance of the address applies' },
  keyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'The same key, for clients that cannot send Authorization',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of /api/auth/login; it counts as a key of its identity',
  },
};

/** `/api/blocks/:height` → `/api/blocks/{height}` */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

export function openApiDocument({ routes, chains, version, examples }: DocumentOptions) {
  const paths = [...Map.groupBy(routes, (route) => templateOf(route.path))].map(([template, atPath]) => {
    const operations = atPath.map(
      (route) => [methodOf(route).toLowerCase(), operationOf(route, chains, examples, linksOf(route, routes))] as const,
    );
    return [template, Object.fromEntries(operations)] as const;
  });
  const responses = Object.fromEntries(ERROR_STATUSES.map((status) => [`Error${status}`, problemResponse(status)]));
  return {
    openapi: '3.1.0',
    info: { title: 'verustream', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(paths),
    components: { schemas: { Problem: problem }, responses, headers: HEADERS, securitySchemes },
  };
}
