/** A data folder as one file: tar, then zstd with a window over all of it, because the databases of a cluster repeat each other. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const WINDOW_LOG = 27;
const MOST_BYTES = 1 << 29;
const SEGMENT_BYTES = 1n << 24n;
const PAGE_BYTES = 8192;
/** Offset of the checkpoint's position in pg_control. */
const CHECKPOINT_OFFSET = 32;

/**
 * Packs the folder of a cleanly stopped service. Removes files that it would recreate: sockets, the lock, and WAL before the last
 * checkpoint.
 */
export function packFolder(folder: string, file: string): void {
  for (const name of ['control.sock', 'lock', 'pid']) rmSync(join(folder, name), { force: true });
  keepCheckpointAlone(join(folder, 'postgres'));
  const tar = execFileSync('tar', ['--sort=name', '--numeric-owner', '--mtime=@0', '-C', folder, '-cf', '-', '.'], {
    maxBuffer: MOST_BYTES,
  });
  const params = {
    [constants.ZSTD_c_compressionLevel]: 19,
    [constants.ZSTD_c_windowLog]: WINDOW_LOG,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  };
  writeFileSync(file, zstdCompressSync(tar, { params }));
}

/** Run by root, it also restores the owners. */
export function unpackFolder(file: string, folder: string): void {
  const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG };
  const tar = zstdDecompressSync(readFileSync(file), { params, maxOutputLength: MOST_BYTES });
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['--numeric-owner', '-C', folder, '-xpf', '-'], { input: tar });
}

/** After a clean shutdown Postgres reads the record of its last checkpoint, and the first page of the segment that contains it. */
function keepCheckpointAlone(data: string): void {
  if (existsSync(join(data, 'postmaster.pid'))) throw new Error(`Postgres in ${data} was not stopped in order`);
  const checkpoint = readFileSync(join(data, 'global/pg_control')).readBigUInt64LE(CHECKPOINT_OFFSET);
  const number = Number(checkpoint / SEGMENT_BYTES);
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');
  const needed = `00000001${hex(Math.floor(number / 256))}${hex(number % 256)}`;
  const segments = readdirSync(join(data, 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name));
  for (const name of segments) if (name !== needed) rmSync(join(data, 'pg_wal', name));
  const file = join(data, 'pg_wal', needed);
  const page = Number(checkpoint % SEGMENT_BYTES) & -PAGE_BYTES;
  writeFileSync(
    file,
    readFileSync(file)
      .fill(0, PAGE_BYTES, page)
      .fill(0, page + 2 * PAGE_BYTES),
  );
}
