/** Compresses answers, a cached answer only once per encoding. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { memoize } from '../state/memoize.ts';

export type Encoding = 'br' | 'gzip';

/** For a smaller body the extra headers cost more than compression saves. */
const LEAST_BYTES = 1400;
const TEXT = /^(text\/|application\/([\w.-]+\+)?json|image\/svg)/;

const brotli = promisify(brotliCompress);
const compressors: Readonly<Record<Encoding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  br: (body) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: promisify(gzip),
};

const MEMOIZED = 500;

/** Returns the best encoding that the client accepts; null for none. */
export const chooseEncoding = memoize(readAcceptEncoding, MEMOIZED);

function readAcceptEncoding(acceptEncoding: string): Encoding | null {
  const taken = new Set<string>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) taken.add(name);
  }
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : null;
}

export function isCompressible(body: Uint8Array, contentType: string): boolean {
  return body.byteLength >= LEAST_BYTES && TEXT.test(contentType);
}

/** Compressed forms, kept as long as their body is. */
const made = new WeakMap<Uint8Array, Map<Encoding, Promise<Uint8Array>>>();

export function compressed(body: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  const forms = made.get(body) ?? new Map<Encoding, Promise<Uint8Array>>();
  made.set(body, forms);
  const known = forms.get(encoding);
  if (known) return known;
  const making = compressors[encoding](body);
  forms.set(encoding, making);
  making.catch(() => forms.delete(encoding)); // the next request tries again; this one gets the error
  return making;
}
