// Caches the program's modules with their types stripped, next to the compiled modules (NODE_COMPILE_CACHE). Otherwise Node.js 22
// strips them in every process, which takes a third of the startup time. Loaded with --import.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.env.NODE_COMPILE_CACHE && join(process.env.NODE_COMPILE_CACHE, `stripped-${process.version}`);

function stripped(source) {
  const file = join(folder, createHash('sha256').update(source).digest('hex'));
  const kept = read(file);
  // Types become spaces, so the length reveals a file that a crash of the machine has truncated.
  if (kept?.length === source.length) return kept;
  const text = stripTypeScriptTypes(source);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file); // atomic, for concurrent readers
  } catch {
    // Without write access the module is stripped again the next time.
  }
  return text;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // not cached yet
  }
}

if (folder && registerHooks) {
  registerHooks({
    load: (url, context, next) =>
      url.startsWith('file:') && url.endsWith('.ts')
        ? { format: 'module', source: stripped(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true }
        : next(url, context),
  });
}
