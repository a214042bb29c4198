/** What the manifest says of a file, read from the file itself. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { type AsyncBuffer, parquetMetadataAsync } from 'hyparquet';

interface Footer {
  readonly rows: number;
  readonly minHeight: number;
  readonly maxHeight: number;
}

export interface ParquetContent extends Footer {
  readonly bytes: number;
  readonly sha256: string;
}

const PIECE_BYTES = 1 << 18;

/** @throws for a file that is not whole */
export async function readParquet(path: string): Promise<ParquetContent> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const piece = new Uint8Array(Math.min(size, PIECE_BYTES));
    await fill(piece, handle, 0);
    const hash = createHash('sha256').update(piece);
    const footer = await readFooter(size, async (from, to = size) => {
      // Most files are one piece, and to read one again takes longer than all else here.
      if (to <= piece.length) return piece.buffer.slice(from, to);
      return (await fill(new Uint8Array(to - from), handle, from)).buffer;
    });
    for (let at = piece.length; at < size; at += PIECE_BYTES) {
      hash.update(await fill(piece.subarray(0, size - at), handle, at));
    }
    return { ...footer, bytes: size, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

async function fill<Bytes extends Uint8Array>(bytes: Bytes, handle: FileHandle, from: number): Promise<Bytes> {
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  if (bytesRead < bytes.length)
    throw new Error(`${bytes.length} bytes at ${from} of a new file were asked for, and ${bytesRead} read`);
  return bytes;
}

/** What the file itself says: it is whole where its footer can be read. */
async function readFooter(byteLength: number, slice: AsyncBuffer['slice']): Promise<Footer> {
  const metadata = await parquetMetadataAsync({ byteLength, slice });
  let minHeight = Number.POSITIVE_INFINITY;
  let maxHeight = Number.NEGATIVE_INFINITY;
  for (const { columns } of metadata.row_groups) {
    const height = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === 'height')?.meta_data?.statistics;
    minHeight = Math.min(minHeight, Number(height?.min_value ?? height?.min));
    maxHeight = Math.max(maxHeight, Number(height?.max_value ?? height?.max));
  }
  return { rows: Number(metadata.num_rows), minHeight, maxHeight };
}
