/** Writes an event of the stream. */
import type { HttpResponse } from 'uWebSockets.js';
import { PIECE_BYTES } from '../http/write-stream.ts';

const END = '\n\n';
/** Characters have three bytes at the most. */
const SHORT = PIECE_BYTES / 5;

/** Returns whether the connection has taken what was written before; what it does not take is copied. */
export function writeEvent(res: HttpResponse, json: string | Uint8Array, type: string, cursor: string): boolean {
  const head = `id: ${cursor}\nevent: ${type}\ndata: `;
  if (head.length + json.length <= SHORT) {
    let isTaken = true;
    res.cork(() => {
      res.write(head);
      res.write(json);
      isTaken = res.write(END);
    });
    return isTaken;
  }
  const bytes = Buffer.concat([Buffer.from(head), typeof json === 'string' ? Buffer.from(json) : json]);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    res.cork(() => res.write(bytes.subarray(at, at + PIECE_BYTES)));
  }
  let isTaken = true;
  res.cork(() => {
    isTaken = res.write(END); // apart, so that it shows whether the pieces have been taken
  });
  return isTaken;
}
