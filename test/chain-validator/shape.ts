/** The required shape of a JSON value read with parseExact: keys in the daemon's order, numbers as the daemon prints them. */
import { LosslessNumber } from 'lossless-json';

/** Reports to `fault` what is wrong, with the path to it; does not call it when the value fits. */
export type Shape = (value: unknown, path: string, fault: ReportFault) => void;
export type ReportFault = (path: string, problem: string) => void;

const shown = (value: unknown): string =>
  value instanceof LosslessNumber ? value.value : (JSON.stringify(value)?.slice(0, 80) ?? String(value));

function matching(what: string, fits: (value: unknown) => boolean): Shape {
  return (value, path, fault) => {
    if (!fits(value)) fault(path, `${shown(value)} is not ${what}`);
  };
}

const textMatching = (what: string, pattern: RegExp): Shape =>
  matching(what, (value) => typeof value === 'string' && pattern.test(value));

export const anything: Shape = () => undefined;
export const text = matching('a text', (value) => typeof value === 'string');
export const bool = matching('true or false', (value) => typeof value === 'boolean');
/** Printed only when it is true. */
export const onlyTrue = matching('true', (value) => value === true);
/** A whole number without decimals, however large. */
export const integer = matching('an integer', (value) => {
  const digits = value instanceof LosslessNumber ? value.value : typeof value === 'number' ? String(value) : '';
  return /^-?\d+$/.test(digits);
});
/** An amount in coins: always eight decimals. */
export const coins = matching(
  'coins with 8 decimals',
  (value) => value instanceof LosslessNumber && /^-?\d+\.\d{8}$/.test(value.value),
);
export const number = matching('a number', (value) => typeof value === 'number' || value instanceof LosslessNumber);
export const hash = textMatching('a hash', /^[0-9a-f]{64}$/);
export const hex = textMatching('hex', /^([0-9a-f]{2})*$/);
export const identityAddress = textMatching('an i-address', /^i[1-9A-HJ-NP-Za-km-z]{24,33}$/);
/** Address of a key, a script, an identity, an index or a quantum key. */
export const address = textMatching('an address', /^[RbixZq][1-9A-HJ-NP-Za-km-z]{24,33}$/);
export const oneOf = (...values: readonly unknown[]): Shape =>
  matching(values.map(shown).join(' or '), (value) => values.includes(value));

export function listOf(item: Shape): Shape {
  return (value, path, fault) => {
    if (!Array.isArray(value)) return fault(path, `${shown(value)} is not a list`);
    for (const [index, element] of value.entries()) item(element, `${path}[${index}]`, fault);
  };
}

export function mapOf(key: Shape, item: Shape): Shape {
  return (value, path, fault) => {
    if (!isObject(value)) return fault(path, `${shown(value)} is not an object`);
    for (const [name, element] of Object.entries(value)) {
      key(name, `${path} key`, fault);
      item(element, `${path}.${name}`, fault);
    }
  };
}

/** Accepts a value that fits the first or the second shape. */
export function either(first: Shape, second: Shape): Shape {
  return (value, path, fault) => {
    const faults: string[] = [];
    first(value, path, (_, problem) => faults.push(problem));
    if (faults.length > 0) second(value, path, fault);
  };
}

/** Requires the members in this order; a member whose name ends in `?` may be missing; other members are not allowed. */
export function object(members: Readonly<Record<string, Shape>>): Shape {
  const expected = Object.entries(members).map(([name, shape]) => {
    const isOptional = name.endsWith('?');
    return { name: isOptional ? name.slice(0, -1) : name, isOptional, shape };
  });
  return (value, path, fault) => {
    if (!isObject(value)) return fault(path, `${shown(value)} is not an object`);
    const actual = Object.keys(value);
    let next = 0;
    for (const { name, isOptional, shape } of expected) {
      if (actual[next] === name) {
        shape(value[name], `${path}.${name}`, fault);
        next++;
      } else if (!isOptional) return fault(path, `${name} is missing, or in another place`);
    }
    if (next < actual.length) fault(path, `${actual[next]} is unknown, or in another place`);
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);
}
