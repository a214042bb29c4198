/** The OpenAPI document, its examples, the page that shows it, and the client that is made from it. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sharedParameters } from '../../../api/http/numbers.ts';
import { methodOf, statusOf } from '../../../api/http/route.ts';
import { EXAMPLES_FILE, readExamples } from '../../../api/openapi/examples.ts';
import type { Example } from '../../../api/openapi/operation.ts';
import { routeTable } from '../../../api/rest/route-table.ts';
import { docsParts } from '../../../api/rest/service/documentation-routes.ts';
import { createVerustreamClient } from '../../../client/client.ts';
import { schemaFaults, type TestClient } from '../client.ts';
import type { LooseJson } from '../truth.ts';

/** Routes whose answers are not JSON, too large to be shown, or of a data set, which the service of this test does not write. */
const WITHOUT_EXAMPLE = new Set([
  ...['/api/openapi.json', '/api/asyncapi.json', '/api/errors', '/api/'],
  ...['/api/datasets/', '/api/datasets/:manifest'],
]);
/** Routes whose answers are those of a logged-in identity. */
const OF_AN_IDENTITY = /^\/api\/(auth|keys|usage|webhooks)/;
const LONGEST_LIST = 3;
/** Members that depend on the time of the request. */
const OF_THE_MOMENT = new Set([
  'updatedAt',
  'state',
  'audit',
  'conversionsWithoutStamp',
  'figuresAt',
  'checkedAt',
  'seenAt',
]);

/** Path and query of an example's request. */
function addressOf(path: string, { parameters }: Example): string {
  const rest = new URLSearchParams();
  let address = path;
  for (const [name, value] of Object.entries(parameters)) {
    if (path.includes(`:${name}`)) address = address.replace(`:${name}`, encodeURIComponent(value));
    else rest.set(name, String(value));
  }
  return rest.size > 0 ? `${address}?${rest}` : address;
}

/** Cuts lists of objects to what a reader needs. */
function shortened(value: LooseJson): LooseJson {
  if (Array.isArray(value)) {
    const whole = value.every((item) => typeof item !== 'object' || item === null);
    return (whole ? value : value.slice(0, LONGEST_LIST)).map(shortened);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

function steady(value: LooseJson): LooseJson {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, OF_THE_MOMENT.has(name) ? null : steady(member)]),
  );
}

export function documentationConforms(client: TestClient, url: () => string): void {
  describe('documentation', () => {
    it('shows a real and current answer for every path', async () => {
      const examples = readExamples();
      const wanted = routeTable.filter(
        ({ produces, path }) => !produces && !WITHOUT_EXAMPLE.has(path) && !OF_AN_IDENTITY.test(path),
      );
      const missing = wanted.map((route) => route.path).filter((path) => examples[path] === undefined);
      expect({ 'add parameters to api/openapi/examples.json for': missing }).toEqual({
        'add parameters to api/openapi/examples.json for': [],
      });
      const answered: Record<string, Example> = {};
      for (const { path } of wanted) {
        const example = examples[path] as Example;
        const given = await client.raw(addressOf(path, example));
        const text = await given.text();
        expect([path, given.status, text.slice(0, 300)]).toEqual([path, 200, text.slice(0, 300)]);
        const answer = shortened(JSON.parse(text));
        answered[path] = { parameters: example.parameters, answer };
        expect([path, schemaFaults(path.replace(/:\w+/g, 'x'), answer)]).toEqual([path, null]);
      }
      if (process.env.UPDATE_EXAMPLES) writeFileSync(EXAMPLES_FILE, `${JSON.stringify(answered, null, 1)}\n`);
      // If they differ, check the difference, then write the examples again: run this test with UPDATE_EXAMPLES=1.
      else for (const path of Object.keys(answered)) expect(steady(answered[path])).toEqual(steady(examples[path]));
    });

    it('describes each route: parameters, answers, errors, credits, tier', async () => {
      const document = await client.json('/api/openapi.json');
      const ids = new Set<string>();
      for (const route of routeTable) {
        if (docsParts.includes(route) || route.path === '/api/docs') continue;
        const operation = document.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[methodOf(route).toLowerCase()];
        expect(operation, route.path).toBeDefined();
        ids.add(operation.operationId);
        expect(operation.parameters.map(({ name }: LooseJson) => name)).toEqual(
          Object.keys({ ...route.parameters, ...sharedParameters(route) }),
        );
        expect([operation['x-credits'], operation['x-tier']]).toEqual([route.weight, route.tier ?? 'free']);
        expect(Object.keys(operation.responses)).toEqual(
          expect.arrayContaining([String(statusOf(route)), '400', '500', '503', 'default']),
        );
      }
      const operations = Object.values<object>(document.paths).flatMap((atPath) => Object.keys(atPath));
      expect(ids.size).toBe(operations.length);
      const { links } = document.paths['/api/webhooks'].post.responses[201];
      expect(Object.keys(links)).toContain('getWebhooksByIdDeliveries');
      for (const { operationId } of Object.values<{ operationId: string }>(links)) expect(ids).toContain(operationId);
    });

    it('describes the stream at the paths of the index', async () => {
      const { endpoints } = await client.json('/api/');
      const listed = endpoints.map(({ path }: LooseJson) => path);
      expect(listed).toContain('/api/asyncapi.json');
      const { channels } = await client.json('/api/asyncapi.json');
      const ours = Object.values<LooseJson>(channels).flatMap(({ address }) => address ?? []); // not the receivers of webhooks
      expect(ours.filter((address) => !listed.includes(address))).toEqual([]);
    });

    it('has a page that needs nothing from other hosts', async () => {
      const page = await client.raw('/api/docs');
      const html = await page.text();
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part);
      expect(parts.length).toBeGreaterThan(3);
      for (const part of parts) {
        expect(part).toMatch(/^\/api\//);
        const answer = await client.raw(part);
        expect([part, answer.status]).toEqual([part, 200]);
        expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
      }
    });

    it('is what the typed client is made from', async () => {
      const typed = createVerustreamClient({ baseUrl: url() });
      const block = await typed.GET('/api/blocks/{height}', { params: { path: { height: '500' } } });
      expect([block.data?.height, block.data?.hash.length]).toEqual([500, 64]);
      const walked = await typed.GET('/api/conversions/', { params: { query: { status: 'refunded', pageSize: 5 } } });
      expect(walked.data?.results.every((row) => row.status === 'refunded')).toBe(true);
      const refused = await typed.GET('/api/currency/{nameOrId}', { params: { path: { nameOrId: 'no such' } } });
      expect([refused.error?.code, refused.error?.status]).toEqual(['not_found', 404]);
    });
  });
}
