/** The lines of a gzip file, as bytes that share one buffer. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export function* readLines(path: string): Generator<Buffer> {
  const bytes = gunzipSync(readFileSync(path));
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    if (end > start) yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** A whole gzip file as text. */
export function readGzip(path: string): string {
  return gunzipSync(readFileSync(path)).toString('utf8');
}
