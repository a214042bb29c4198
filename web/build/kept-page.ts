/** Caches the compiled page next to the compiled modules (NODE_COMPILE_CACHE); without a writable folder each start compiles it again. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { CompiledPage } from './compiled-page.ts';

const folder = process.env.NODE_COMPILE_CACHE;
const fileOf = (key: string) => join(folder ?? '', `page-${key}`);

export function readKept(key: string): CompiledPage | null {
  if (!folder) return null;
  try {
    return deserialize(readFileSync(fileOf(key)));
  } catch {
    return null; // not cached yet, or truncated by a machine crash
  }
}

export function writeKept(key: string, page: CompiledPage): void {
  if (!folder) return;
  const file = fileOf(key);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, serialize(page));
    renameSync(`${file}.${process.pid}`, file); // atomic, so readers never see a partial file
  } catch {
    // Without the cache the page exists in memory only.
  }
}
