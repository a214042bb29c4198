/** Messages between the program and the engine's process on a socket: two lengths (32 bits, big endian), a JSON value, and bytes. */
import type { Socket } from 'node:net';

export interface Frame<Head> {
  readonly head: Head;
  readonly body: Buffer;
}

const LENGTHS_BYTES = 8;

export function writeFrame(socket: Socket, head: unknown, body: readonly Uint8Array[]): void {
  const text = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32BE(text.length, 0);
  lengths.writeUInt32BE(
    body.reduce((sum, { length }) => sum + length, 0),
    4,
  );
  socket.cork();
  for (const part of [lengths, text, ...body]) socket.write(part);
  socket.uncork();
}

/** Calls `onFrame` with each complete frame. */
export function onFrames<Head>(socket: Socket, onFrame: (frame: Frame<Head>) => void): void {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted = LENGTHS_BYTES;

  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    held += chunk.length;
    while (held >= wanted) {
      const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      const headEnd = LENGTHS_BYTES + bytes.readUInt32BE(0);
      const end = headEnd + bytes.readUInt32BE(4);
      if (held >= end) {
        onFrame({
          head: JSON.parse(bytes.toString('utf8', LENGTHS_BYTES, headEnd)),
          body: bytes.subarray(headEnd, end),
        });
        held -= end;
        chunks = held > 0 ? [bytes.subarray(end)] : [];
        wanted = LENGTHS_BYTES;
      } else {
        chunks = [bytes];
        wanted = end;
      }
    }
  });
}
