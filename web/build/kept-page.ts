/** Keeps the compiled page next to the compiled modules (NODE_COMPILE_CACHE); where nothing can be written it is made at each start. */
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
    return null; // not kept yet, or cut off by a crash of the machine
  }
}

export function writeKept(key: string, page: CompiledPage): void {
  if (!folder) return;
  const file = fileOf(key);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, serialize(page));
    renameSync(`${file}.${process.pid}`, file); // whole, whoever reads it meanwhile
  } catch {
    // In memory alone.
  }
}
