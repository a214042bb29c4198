import type { FileHandle } from 'node:fs/promises';

/** Fills `bytes` from position `from` of a file. @throws Error if the file ends before `bytes` is full */
export async function readExactly<Bytes extends Uint8Array>(
  handle: FileHandle,
  bytes: Bytes,
  from: number,
): Promise<Bytes> {
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0)
      throw new Error(`the file ends at ${from + filled}; ${bytes.length} bytes at ${from} were asked for`);
    filled += bytesRead;
  }
  return bytes;
}
