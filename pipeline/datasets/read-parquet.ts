/** Reads from a Parquet file the values for its manifest entry. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { type AsyncBuffer, parquetMetadataAsync } from 'hyparquet';
import { readExactly } from '../../infra/read-exactly.ts';

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

/** @throws for a truncated file */
export async function readParquet(path: string): Promise<ParquetContent> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const piece = new Uint8Array(Math.min(size, PIECE_BYTES));
    await readExactly(handle, piece, 0);
    const hash = createHash('sha256').update(piece);
    const footer = await readFooter(size, async (from, to = size) => {
      // Most files are one piece, and reading it again would take longer than everything else here.
      if (to <= piece.length) return piece.buffer.slice(from, to);
      return (await readExactly(handle, new Uint8Array(to - from), from)).buffer;
    });
    for (let at = piece.length; at < size; at += PIECE_BYTES) {
      hash.update(await readExactly(handle, piece.subarray(0, size - at), at));
    }
    return { ...footer, bytes: size, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

/** Only a complete file has a readable footer. */
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
