/** The key-value store of an identity: selects a key and decodes the values. */

import { isIdentityAddress } from '../../../domain/addresses.ts';
import { parseExact } from '../../../domain/json/exact-json.ts';
import { isTooDeep } from '../../../domain/json/shallow-json.ts';
import { vdxfKey } from '../../../domain/names.ts';
import type { ApiContext } from '../../api-context.ts';
import { parameterError } from '../../http/api-error.ts';
import { queryParameter } from '../../http/parameters.ts';
import { inTurns } from '../../state/in-turns.ts';

export type Multimap = Readonly<Record<string, unknown>>;

export const keyParameter = queryParameter('Only this key: i-address or qualified VDXF name', {
  type: 'string',
  minLength: 1,
  maxLength: 500,
});

export function contentOf(state: Readonly<Record<string, unknown>>): Multimap {
  const content = state.contentmultimap;
  return typeof content === 'object' && content !== null ? (content as Multimap) : {};
}

/** @throws ApiError invalid_parameter for a key that is neither an i-address nor a VDXF name */
export function withKey(content: Multimap, key: string | undefined, api: ApiContext, chain: string): Multimap {
  if (key === undefined) return content;
  const id = isIdentityAddress(key) ? key : vdxfKey(key, api.chain(chain).networkRoot);
  if (id === null) {
    throw parameterError(
      'key',
      `${JSON.stringify(key)} is neither an i-address nor a VDXF name such as vrsc::data.type.string`,
    );
  }
  return Object.hasOwn(content, id) ? { [id]: content[id] } : {};
}

/** Returns texts and messages as they are, and hex of UTF-8 JSON parsed; leaves out everything else and JSON that is too deep. */
export async function decodeContent(content: Multimap): Promise<Record<string, unknown[]>> {
  const decoded = new Map<string, unknown[]>();
  const found = Object.entries(content).flatMap(([key, values]) =>
    [values].flat(Number.POSITIVE_INFINITY).map((value) => ({ key, value })),
  );
  await inTurns(found, ({ key, value }) => {
    const read = decodeValue(value);
    if (read.length === 0) return;
    const before = decoded.get(key);
    if (before) before.push(...read);
    else decoded.set(key, read);
  });
  return Object.fromEntries(decoded);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `vrsc::data.type.string` and `vrsc::data.type.object.datadescriptor`. */
const STRING_TYPE = 'iK7a5JNJnbeuYWVHCDRpJosj3irGJ5Qa8c';
const DESCRIPTOR_TYPE = 'i4GC1YGEVD21afWudGoFJVdnfjJ5XWnCQv';

interface TypedValue {
  readonly [STRING_TYPE]?: unknown;
  readonly [DESCRIPTOR_TYPE]?: { readonly objectdata?: { readonly message?: unknown } };
}

function decodeValue(value: unknown): unknown[] {
  if (typeof value === 'object' && value !== null) {
    const { [STRING_TYPE]: text, [DESCRIPTOR_TYPE]: descriptor } = value as TypedValue;
    return [text, descriptor?.objectdata?.message].filter((found) => typeof found === 'string');
  }
  if (typeof value !== 'string' || value.length % 2 === 1 || !/^[0-9a-f]+$/i.test(value)) return [];
  try {
    const text = utf8.decode(Buffer.from(value, 'hex'));
    return isTooDeep(text) ? [] : [parseExact(text)];
  } catch {
    return [];
  }
}
