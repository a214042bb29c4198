/** Writes a server-sent event. */
import type { HttpResponse } from 'uWebSockets.js';
import { PIECE_BYTES } from '../http/write-stream.ts';

const END = '\n\n';
/** Characters of an event that is written in one piece; each has at most three bytes. */
const SHORT = PIECE_BYTES / 5;

/** Returns whether the connection has accepted what was written; uWebSockets.js keeps a copy of the rest. */
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
    isTaken = res.write(END); // written by itself, so that its result shows whether the pieces have been accepted
  });
  return isTaken;
}
