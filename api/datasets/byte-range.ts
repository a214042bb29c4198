/** The part of a file that a Range header requests (RFC 9110, 14). */

export interface ByteRange {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
}

const ONE = /^bytes=(\d*)-(\d*)$/;

/** Returns null for the whole file, also for several ranges and malformed headers, which a server may ignore. */
export function byteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = ONE.exec(header.trim()) ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size - 1 };
  }
  const from = Number(first);
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < from) return null;
  return from >= size ? 'unsatisfiable' : { from, to };
}
