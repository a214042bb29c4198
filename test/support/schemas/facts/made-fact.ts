/** Synthetic facts: a test sets only the fields that matter to it. */

import type { Field } from '../../../../schemas/facts/fields.ts';
import { DEFINITIONS, type FactOf, type FactType } from '../../../../schemas/facts.ts';

/** Missing fields are empty (null, zero, an empty list, the first choice); a text is the name of its field. */
export function madeFact<T extends FactType>(type: T, given: Partial<FactOf<T>> = {}): FactOf<T> {
  const empty = Object.entries(DEFINITIONS[type].fields).map(([name, field]) => [name, emptyValue(name, field)]);
  return { type, ...Object.fromEntries(empty), ...given };
}

function emptyValue(name: string, field: Field): unknown {
  if (field.nullable) return null;
  switch (field.sort) {
    case 'text':
      return name;
    case 'hash':
      return '0'.repeat(64);
    case 'numeral':
      return '0';
    case 'json':
      return '{}';
    case 'integer':
    case 'seconds':
      return 0;
    case 'satoshis':
    case 'sum':
      return 0n;
    case 'choice':
      return field.values[0];
    case 'choices':
    case 'texts':
    case 'list':
      return [];
    case 'amounts':
    case 'flows':
      return {};
    case 'detail':
      return Object.fromEntries(Object.entries(field.members).map(([key, member]) => [key, emptyValue(key, member)]));
    default:
      throw new TypeError(`unknown field: ${field satisfies never}`);
  }
}
