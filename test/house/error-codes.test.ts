import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { API_ERRORS } from '../../api/http/api-error.ts';
import { ROOT, sourceFiles } from './source-files.ts';

/**
 * Where a code is defined: the first argument of one of the project's errors or their constructors, or a `code:` member of the API's table.
 */
const BIRTH =
  /(?:super|(?:Retryable|Permanent|Api)Error|problem|SubscriptionRefused|refuse)\(\s*(?:\w+,\s*)?'([a-z][a-z0-9_]+)'|\bcode: '([a-z][a-z0-9_]+)'/g;

it('every error code is explained in docs/errors.md, and every explained one exists', async () => {
  const used = new Set<string>([...Object.keys(API_ERRORS)]);
  for (const { path, text } of await sourceFiles()) {
    if (/\.test\.ts$|^test\/|^benchmarks\//.test(path)) continue;
    for (const [, raised, listed] of text.matchAll(BIRTH)) used.add(raised ?? listed ?? '');
  }
  const documented = new Set(
    [...readFileSync(`${ROOT}/docs/errors.md`, 'utf8').matchAll(/^\| `([a-z0-9_]+)`/gm)].map(([, code]) => code ?? ''),
  );
  expect(used.size).toBeGreaterThan(20);
  expect({ undocumented: [...used].filter((code) => !documented.has(code)).sort() }).toEqual({ undocumented: [] });
  expect({ unused: [...documented].filter((code) => !used.has(code)).sort() }).toEqual({ unused: [] });
});
