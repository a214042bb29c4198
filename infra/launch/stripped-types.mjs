// Caches the program's modules without types next to the compiled ones (NODE_COMPILE_CACHE): otherwise Node.js 22 strips them
// in every process, which takes a third of the time until the program runs. Loaded by --import.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.env.NODE_COMPILE_CACHE && join(process.env.NODE_COMPILE_CACHE, `stripped-${process.version}`);

function stripped(source) {
  const file = join(folder, createHash('sha256').update(source).digest('hex'));
  const kept = read(file);
  // Types become spaces, so a file truncated by a crash of the machine is recognised by its length.
  if (kept?.length === source.length) return kept;
  const text = stripTypeScriptTypes(source);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file); // whole, whoever reads it meanwhile
  } catch {
    // Where nothing can be written it is stripped again the next time.
  }
  return text;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // not kept yet
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
