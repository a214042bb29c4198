/** Compiles the source of the page with esbuild into the files to serve; names contain a content hash, and each file is compressed once. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'esbuild';
import type { CompiledFile, CompiledPage } from './compiled-page.ts';
import { readKept, writeKept } from './kept-page.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = 'web/main.tsx';
const STYLE = 'web/page.css';
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Reads the page from the folder of compiled modules when these sources were compiled before. @throws where esbuild cannot run */
export async function buildPage(): Promise<CompiledPage> {
  const key = await keyOfSources();
  const kept = readKept(key);
  if (kept) return kept;
  const page = await compilePage();
  writeKept(key, page);
  return page;
}

async function keyOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const paths: string[] = ['package-lock.json'];
  for await (const path of glob('{{web,client}/**/*.{ts,tsx,css},examples/webhook*}', { cwd: ROOT })) paths.push(path);
  for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

/** Imports `example:<file>` as the text of a program of examples/. */
const examples: Plugin = {
  name: 'examples',
  setup(build) {
    build.onResolve({ filter: /^example:/ }, ({ path }) => ({
      path: path.replace('example:', ''),
      namespace: 'example',
    }));
    build.onLoad({ filter: /./, namespace: 'example' }, async ({ path }) => {
      return { contents: await readFile(join(ROOT, 'examples', path), 'utf8'), loader: 'text' };
    });
  },
};

export async function compilePage(): Promise<CompiledPage> {
  const esbuild = await import('esbuild');
  try {
    const { outputFiles, metafile } = await esbuild.build({
      absWorkingDir: ROOT,
      entryPoints: [SCRIPT, STYLE],
      outdir: 'assets',
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      target: 'es2023',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      minify: true,
      metafile: true,
      write: false,
      logLevel: 'silent',
      legalComments: 'none',
      plugins: [examples],
    });
    const { outputs } = metafile;
    const outputOf = (source: string) =>
      Object.keys(outputs).find((path) => outputs[path]?.entryPoint === source) ?? '';
    const script = outputOf(SCRIPT);
    /** The module and all modules it imports statically, directly or not. */
    const closure = (path: string, seen = new Set<string>()): Set<string> => {
      seen.add(path);
      for (const { path: next, kind } of outputs[path]?.imports ?? []) {
        if (kind === 'import-statement' && !seen.has(next)) closure(next, seen);
      }
      return seen;
    };
    const initial = closure(script);
    const modules = new Map<string, readonly string[]>();
    for (const [path, { entryPoint }] of Object.entries(outputs)) {
      if (entryPoint?.startsWith('web/views/')) {
        const more = [...closure(path)].filter((file) => !initial.has(file));
        modules.set(
          entryPoint,
          more.map((file) => basename(file)),
        );
      }
    }
    const files = await Promise.all(
      outputFiles.map(async ({ path, contents }) => [basename(path), await compressedFile(path, contents)] as const),
    );
    initial.delete(script);
    return {
      files: new Map(files),
      script: basename(script),
      imports: [...initial].map((file) => basename(file)),
      style: basename(outputOf(STYLE)),
      modules,
    };
  } finally {
    await esbuild.stop(); // its process keeps memory that is no longer needed
  }
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

async function compressedFile(path: string, body: Uint8Array): Promise<CompiledFile> {
  const type = TYPES[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength };
  return { type, body, br: await brotli(body, { params }), gzip: await zip(body, { level: 9 }) };
}
