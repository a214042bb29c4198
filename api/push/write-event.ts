/** Writes an event of the stream. */
import type { HttpResponse } from 'uWebSockets.js';
import { PIECE_BYTES } from '../http/write-stream.ts';

/** Characters have three bytes at the most. */
const SHORT = PIECE_BYTES / 5;

/** Returns whether the connection has taken what was written before; what it does not take is copied. */
export function writeEvent(res: HttpResponse, json: string | Uint8Array, type: string, cursor: string): boolean {
  const head = `id: ${cursor}\nevent: ${type}\ndata: `;
  let isTaken = true;
  if (head.length + json.length <= SHORT) {
    res.cork(() => {
      res.write(head);
      res.write(json);
      isTaken = res.write('\n\n');
    });
    return isTaken;
  }
  const bytes = Buffer.concat(
    [head, json, '\n\n'].map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
  );
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    res.cork(() => {
      isTaken = res.write(bytes.subarray(at, at + PIECE_BYTES));
    });
  }
  return isTaken;
}
