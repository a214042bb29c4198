/** OpenAPI 3.1, made from the route table alone: what is served, what it takes, what it answers, what it costs. */

import { methodOf, type Route } from '../http/route.ts';
import { problem } from '../schema/problem.ts';
import { HEADERS } from './headers.ts';
import { linksOf } from './links.ts';
import { ERROR_STATUSES, type Examples, operationOf, problemResponse } from './operation.ts';

export interface DocumentOptions {
  readonly routes: readonly Route[];
  /** Names that the `chain` parameter takes; when there are none, it takes whatever fits. */
  readonly chains: readonly string[];
  readonly version: string;
  readonly examples: Examples;
}

const DESCRIPTION = `Blocks, transactions, addresses, identities, currencies, conversions with USD values, market data, oracle prices
and statistics of Verus chains.

- Amounts are coins with exactly 8 decimals: read them as decimals, since a double does not hold all of them.
- Lists are walked by \`nextCursor\`; a walk neither repeats nor leaves out a row while blocks arrive, and answers 409 when a
  reorganisation took its place away.
- Answers carry an \`ETag\` and, in \`X-Chain-State\`, the height and hash of the block that they were computed at. No reorganisation
  removes a block up to the height \`finalized\` there.
- Errors are \`application/problem+json\` (RFC 9457) with a stable \`code\`; /api/errors explains each.
- \`x-credits\` is what a request costs, \`x-tier\` the lowest tier that may ask.`;

const securitySchemes = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key; without one the allowance of the address holds' },
  keyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key for clients that cannot' },
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
