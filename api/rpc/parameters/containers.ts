/** Parameter types for lists and objects. */
import { I_ADDRESS } from '../../../domain/addresses.ts';
import { isDaemonJson, skipSpace } from '../../../domain/json/json-scan.ts';
import { eachMember, rawElements } from '../../../domain/json/raw-json.ts';
import { MAX_NESTING } from '../../../schemas/verusd/rpc-body.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { type Misfit, type ParameterType, stringOf } from './parameter-type.ts';
import { dataKey, word } from './scalars.ts';

const inside = (misfit: Misfit | null, place: string): Misfit | null =>
  misfit && { ...misfit, path: `${place}${misfit.path}` };

/** A list of values of one type; single values pass if they are harmless, and the daemon judges them. */
export function listOf(type: ParameterType, most: number): ParameterType {
  const allows = `a list of at most ${most}, each ${type.allows}`;
  return {
    allows,
    check(text) {
      if (!text.startsWith('[')) return word.check(text);
      const spans = rawElements(text, most + 1);
      if (spans.length > most) return { path: '', allows, code: RPC_CODES.invalidParameter };
      for (const [index, { start, end }] of spans.entries()) {
        const misfit = type.check(text.slice(start, end));
        if (misfit) return inside(misfit, `[${index}]`);
      }
      return null;
    },
  };
}

/** An object, or a single value of the type `plain`. */
export const plainOr = (plain: ParameterType, object: ParameterType): ParameterType => ({
  allows: `${plain.allows}, or ${object.allows}`,
  check: (text) => (text.startsWith('{') ? object.check(text) : plain.check(text)),
});

/** A list of values of one type, or one such value without a list. */
export const oneOrMore = (type: ParameterType, most: number): ParameterType => {
  const list = listOf(type, most);
  return {
    allows: `${type.allows}, or ${list.allows}`,
    check: (text) => (text.startsWith('[') ? list.check(text) : type.check(text)),
  };
};

type Members = Readonly<Record<string, ParameterType>>;

/** No object of a method has as many members, not even those whose keys are addresses. */
const MOST_MEMBERS = 1000;

const keyOf = (key: string) => (dataKey.check(JSON.stringify(key)) ? '{…}' : `.${key}`);

/** An object, or a single value as word. `typeOf` returns null for a member that is not allowed. */
const objectType = (allows: string, typeOf: (key: string) => ParameterType | null): ParameterType => ({
  allows,
  check(text) {
    if (!text.startsWith('{')) return word.check(text);
    let count = 0;
    for (const { key, start, end } of eachMember(text, 0)) {
      const type = typeOf(key);
      count += 1;
      if (type === null || count > MOST_MEMBERS) return { path: '', allows, code: RPC_CODES.invalidParameter };
      const misfit = type.check(text.slice(start, end));
      if (misfit) return inside(misfit, keyOf(key));
    }
    return null;
  },
});

/**
 * An object with these members. The daemon ignores unknown members, so others pass if they are single values. Every value of a
 * repeated member is checked.
 */
export function members(known: Members): ParameterType {
  const allows = `an object of ${Object.keys(known).join(', ')}`;
  return objectType(allows, (key) => {
    if (Object.hasOwn(known, key)) return known[key] ?? null;
    return dataKey.check(JSON.stringify(key)) ? null : word;
  });
}

/** An object with these members and no others. */
export function onlyMembers(known: Members): ParameterType {
  const allows = `an object of ${Object.keys(known).join(', ')} alone`;
  return objectType(allows, (key) => (Object.hasOwn(known, key) ? (known[key] ?? null) : null));
}

/** An object with any keys of one type and values of one type, except for the named members. */
export function mapOf(keys: ParameterType, values: ParameterType, named: Members = {}): ParameterType {
  const own = Object.entries(named).map(([key, { allows }]) => `; as ${key} ${allows}`);
  const allows = `an object of at most ${MOST_MEMBERS} members: ${keys.allows}, with ${values.allows}${own.join('')}`;
  return objectType(allows, (key) => {
    if (Object.hasOwn(named, key)) return named[key] ?? null;
    return keys.check(JSON.stringify(key)) ? null : values;
  });
}

const MOST_TREE = 65_536;
/** Longest address, name or number. */
const MOST_SHORT = 400;
/** 8 kB of data: the daemon prints nested serialised data by recursion, at 30 bytes a level. */
const MOST_LONG = 16_384;
/** Members that contain serialised data. */
const LONG = new RegExp(`^(?:objectdata|data|serializedhex|serializedbase64|hex|${I_ADDRESS}|[^:]*::.*)$`);
/** Members whose text the daemon only copies. */
const COPIED = new Set(['message', 'memo', 'label']);
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are refused
const TREE_TEXT = /^(?!\s*[{[])[^\u0000-\u001f]*$/;

const isTreeText = (value: string, key: string) =>
  COPIED.has(key) || (TREE_TEXT.test(value) && value.length <= (LONG.test(key) ? MOST_LONG : MOST_SHORT));

interface TreeString {
  readonly value: string;
  /** Name of the innermost member that contains it. */
  readonly key: string;
  readonly isKey: boolean;
}

const TREE_PARTS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]/g;

/** Yields every key and every text at any depth, in one pass. */
function* treeStrings(text: string): Generator<TreeString> {
  /** Name of the member that contains each open bracket. */
  const holders: string[] = [];
  let key = '';
  for (const { 0: part, index } of text.matchAll(TREE_PARTS)) {
    if (part === '{' || part === '[') holders.push(key);
    else if (part === '}' || part === ']') key = holders.pop() ?? '';
    else {
      const value = stringOf(part);
      const isKey = text[skipSpace(text, index + part.length)] === ':';
      yield { value, key, isKey };
      if (isKey) key = value;
    }
  }
}

/**
 * Identities, evidence and data of any form. No text in it may be JSON, which the daemon would parse without a bound, or longer than
 * the daemon decodes quickly.
 */
export const tree: ParameterType = {
  allows: `an object of at most ${MOST_TREE} characters, its data of at most ${MOST_LONG} and no JSON in a text`,
  check(text) {
    if (text.startsWith('"')) return word.check(text);
    const misfit: Misfit = { path: '', allows: tree.allows, code: RPC_CODES.invalidParameter };
    if (text.length > MOST_TREE) return misfit;
    for (const { value, key, isKey } of treeStrings(text)) {
      if (isKey && dataKey.check(JSON.stringify(value))) return misfit;
      if (!isKey && !isTreeText(value, key)) return inside(misfit, keyOf(key));
    }
    return null;
  },
};

/** Also accepts the object as JSON text in a string, as command lines pass it. */
export function alsoAsText(object: ParameterType, plain: ParameterType): ParameterType {
  return {
    allows: `${plain.allows}, or ${object.allows}, which may be JSON in a string`,
    check(text) {
      if (text.startsWith('{')) return object.check(text);
      const misfit = plain.check(text);
      if (!misfit || !text.startsWith('"') || text.length > MOST_TREE) return misfit;
      const inner = stringOf(text).trim();
      return inner.startsWith('{') && isDaemonJson(inner, MAX_NESTING) ? object.check(inner) : misfit;
    },
  };
}
