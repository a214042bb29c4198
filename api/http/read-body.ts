/** The body of a request, up to a limit. */
import type { HttpResponse } from 'uWebSockets.js';

/** Call it before the first await. `aborted` is told whenever the client goes, also after the body has come. */
export function readBody(
  res: HttpResponse,
  maxBytes: number,
  aborted: () => void,
): Promise<Buffer | 'too large' | 'aborted'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    res.onAborted(() => {
      aborted();
      resolve('aborted');
    });
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      // The chunk's memory is gone after this call.
      if (bytes <= maxBytes) chunks.push(Buffer.copyBytesFrom(new Uint8Array(chunk)));
      else {
        chunks.length = 0;
        resolve('too large');
      }
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
}
