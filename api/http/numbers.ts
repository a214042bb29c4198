/** `numbers=text`: prints each number of an answer as a string of its digits. */
import { LosslessNumber } from 'lossless-json';
import { queryParameter } from './parameters.ts';
import { methodOf, type Route } from './route.ts';

/** A media type of its own, because the schema differs from that of `application/json`. */
export const TEXT_NUMBERS_TYPE = 'application/vnd.verustream.text+json';

const numbersParameter = queryParameter(
  `text: every number of the answer is a string of its digits, exact for readers whose numbers are doubles; as ${TEXT_NUMBERS_TYPE}`,
  { type: 'string', enum: ['json', 'text'] },
);

export const SHARED_PARAMETERS = { numbers: numbersParameter };
const NONE = {};

/** Returns the parameters that a route has without naming them. Free routes (documents, health) have none, except those of the data set. */
export function sharedParameters(route: Route): typeof SHARED_PARAMETERS | typeof NONE {
  const isData = route.weight > 0 || route.cache === 'files';
  return methodOf(route) === 'GET' && route.produces === undefined && isData ? SHARED_PARAMETERS : NONE;
}

/** Returns the value with its numbers as the strings that JSON would print. */
export function numbersAsText(value: unknown): unknown {
  if (value instanceof LosslessNumber) return value.value;
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(numbersAsText);
  if ('toJSON' in value && typeof value.toJSON === 'function') return numbersAsText(value.toJSON());
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, numbersAsText(member)]));
}
