/** The project's own TypeScript files, with paths relative to its root. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export async function sourceFiles(): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  const patterns = [
    '*.ts',
    '{api,benchmarks,client,commands,domain,examples,infra,pipeline,processors,recordings,schemas,test,web}/**/*.ts',
    'web/**/*.tsx',
  ];
  for (const pattern of patterns) {
    for await (const path of glob(pattern, {
      cwd: ROOT,
      exclude: (name) => name === 'node_modules' || name === 'dist',
    })) {
      files.push({ path, text: readFileSync(`${ROOT}/${path}`, 'utf8') });
    }
  }
  return files;
}
