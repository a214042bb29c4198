/** HTTP client of the tests: exact numbers, whole walks, and every answer held against the schema of its route. */
import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'vitest';
import { routeTable } from '../../api/routes/route-table.ts';
import { parseExact } from '../../schemas/exact-json.ts';
import type { Json } from './truth.ts';

const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
const validators = routeTable.map((route) => ({
  path: route.path,
  // Every segment of a template that is a parameter matches anything; static paths come first.
  pattern: new RegExp(`^${route.path.replace(/\/$/, '').replace(/:\w+/g, '[^/]+')}/?$`),
  weight: (route.path.match(/:/g) ?? []).length,
  validate: ajv.compile(route.response) as ValidateFunction,
}));

export const seenRoutes = new Set<string>();

export function schemaFaults(path: string, body: unknown): string | null {
  const matching = validators.filter(({ pattern }) => pattern.test(path)).sort((a, b) => a.weight - b.weight);
  const [validator] = matching;
  if (!validator) return `no route matches ${path}`;
  seenRoutes.add(validator.path);
  return validator.validate(body) ? null : ajv.errorsText(validator.validate.errors);
}

export interface Client {
  /** Body of a 200, numbers exact. */
  json(path: string): Promise<Json>;
  status(path: string, init?: RequestInit): Promise<number>;
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** Every row by cursor, and that no row comes twice. */
  walk(path: string, pageSize: number): Promise<Json[]>;
}

export function createClient(url: () => string): Client {
  const raw = (path: string, init?: RequestInit) => fetch(`${url()}${path}`, init);

  async function json(path: string): Promise<Json> {
    const answer = await raw(path);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`);
    expect(schemaFaults(path.split('?')[0] ?? '', JSON.parse(text)), path).toBeNull();
    return parseExact(text);
  }

  return {
    json,
    raw,
    status: async (path, init) => (await raw(path, init)).status,
    async walk(path, pageSize) {
      const rows: Json[] = [];
      let cursor: string | null = null;
      const join = path.includes('?') ? '&' : '?';
      do {
        const page: Json = await json(`${path}${join}pageSize=${pageSize}${cursor ? `&cursor=${cursor}` : ''}`);
        rows.push(...page.results);
        cursor = page.nextCursor;
      } while (cursor);
      return rows;
    },
  };
}
