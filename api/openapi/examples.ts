/** Real answers of the recorded chain, shown in the documentation; test/api/conformance/documentation.ts checks them. */
import { readFileSync } from 'node:fs';
import type { Examples } from './operation.ts';

export const EXAMPLES_FILE = new URL('./examples.json', import.meta.url);

export function readExamples(): Examples {
  return JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples;
}
