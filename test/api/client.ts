/** HTTP client of the tests: reads exact numbers and whole lists, and validates every answer with its published schema. */
import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'vitest';
import { methodOf } from '../../api/http/route.ts';
import { statusesOf } from '../../api/openapi/operation.ts';
import { routeTable } from '../../api/rest/route-table.ts';
import { problem } from '../../api/schema/problem.ts';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { parseExact } from '../../domain/json/exact-json.ts';
import type { LooseJson } from './truth.ts';

const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
/** Compiles a schema for the first answer of its route: a test file uses few routes. */
function lateValidator(schema: object): (body: unknown) => string | null {
  let validate: ValidateFunction | undefined;
  return (body) => {
    validate ??= ajv.compile(schema);
    return validate(body) ? null : ajv.errorsText(validate.errors);
  };
}
const validators = routeTable.map((route) => ({
  path: route.path,
  // A segment that is a parameter matches anything; paths with fewer parameters come first.
  pattern: new RegExp(`^${route.path.replace(/\/$/, '').replace(/:\w+/g, '[^/]+')}/?$`),
  weight: (route.path.match(/:/g) ?? []).length,
  method: methodOf(route),
  errorStatuses: statusesOf(route),
  faultsOf: lateValidator(route.response),
  json: route.produces === undefined,
}));
const faultsOfProblem = lateValidator(problem);

export const seenRoutes = new Set<string>();

interface Tally {
  answers: number;
  refusals: number;
}
const tallies = new Map<string, Tally>();

/** One line per path: how many answers and refusals were validated. */
export function conformanceTable(): string {
  const lines = routeTable
    .filter(({ produces }) => produces === undefined)
    .map(({ path }) => {
      const { answers, refusals } = tallies.get(path) ?? { answers: 0, refusals: 0 };
      return `${path.padEnd(44)}${String(answers).padStart(8)} answers${String(refusals).padStart(6)} refusals`;
    });
  return ['as published:', ...lines].join('\n');
}

function validatorOf(path: string, method?: string) {
  const matching = validators.filter(
    (one) => one.pattern.test(path) && (method === undefined || one.method === method),
  );
  return matching.sort((a, b) => a.weight - b.weight)[0];
}

export function schemaFaults(path: string, body: unknown): string | null {
  const validator = validatorOf(path);
  if (!validator) return `no route matches ${path}`;
  seenRoutes.add(validator.path);
  return validator.faultsOf(body);
}

/** Validates an answer with its published schema, or with that of a problem, whose status must be published for the route. */
async function holdToSchema(path: string, method: string, answer: Response): Promise<void> {
  const validator = validatorOf(path);
  if (!validator) return;
  const tally = tallies.get(validator.path) ?? { answers: 0, refusals: 0 };
  tallies.set(validator.path, tally);
  if (answer.headers.get('content-type')?.startsWith('application/problem+json')) {
    const body: unknown = await answer.json();
    expect(faultsOfProblem(body), path).toBeNull();
    const published = validatorOf(path, method === 'HEAD' ? 'GET' : method)?.errorStatuses;
    if (published) expect(published, `${method} ${path}`).toContain(answer.status);
    tally.refusals += 1;
  } else if (
    answer.status === 200 &&
    validator.json &&
    answer.headers.get('content-type')?.startsWith('application/json')
  ) {
    const text = await answer.text();
    if (text === '') return; // HEAD
    expect(schemaFaults(path, JSON.parse(text)), path).toBeNull();
    tally.answers += 1;
  }
}

export interface TestClient {
  /** Body of a 200, numbers exact. */
  json(path: string): Promise<LooseJson>;
  /** The same, requested once and then remembered: for answers that several tests read while the service rests. */
  once(path: string): Promise<LooseJson>;
  status(path: string, init?: RequestInit): Promise<number>;
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** All rows of a list, page by page. */
  walk(path: string, pageSize: number): Promise<LooseJson[]>;
}

/** Every request presents `key`, if given. */
export function createClient(url: () => string, key?: () => string): TestClient {
  async function raw(path: string, init?: RequestInit): Promise<Response> {
    const headers = { ...(key && { 'X-API-Key': key() }), ...init?.headers };
    const answer = await fetch(`${url()}${path}`, { ...init, headers });
    await holdToSchema(path.split('?')[0] ?? '', init?.method ?? 'GET', answer.clone());
    return answer;
  }

  async function json(path: string): Promise<LooseJson> {
    const answer = await raw(path);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return parseExact(text);
  }

  const asked = new Map<string, Promise<LooseJson>>();
  return {
    json,
    once: (path) => getOrInsert(asked, path, () => json(path)),
    raw,
    status: async (path, init) => (await raw(path, init)).status,
    async walk(path, pageSize) {
      const rows: LooseJson[] = [];
      let cursor: string | null = null;
      const join = path.includes('?') ? '&' : '?';
      do {
        const page: LooseJson = await json(`${path}${join}pageSize=${pageSize}${cursor ? `&cursor=${cursor}` : ''}`);
        rows.push(...page.results);
        cursor = page.nextCursor;
      } while (cursor);
      return rows;
    },
  };
}
