/**
 * Packs the recorded calls of a daemon (a folder of rpc/<method>/<case>.json) into rpc.jsonl.gz and wire.jsonl.gz. Texts are copied from the
 * files, never reformatted. Usage: node pack-recording.ts <source folder> [target folder]
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rawMember } from '../../domain/json/raw-json.ts';
import type { RecordedCase } from './recorded-calls.ts';

const DEFAULT_TARGET = fileURLToPath(new URL('../private-network/', import.meta.url));

function packCase(name: string, line: string): RecordedCase {
  const request = rawMember(line, 'request');
  if (request === undefined) throw new Error(`${name}: no request`);
  const body = rawMember(line, 'response');
  if (body !== undefined) return { name, request, status: Number(rawMember(line, 'http_status')), body };
  const transportError = rawMember(line, 'transport_error');
  if (transportError === undefined) throw new Error(`${name}: neither response nor transport_error`);
  return { name, request, transportError: String(JSON.parse(transportError)) };
}

async function casesOf(folder: string, method: string): Promise<RecordedCase[]> {
  const cases: RecordedCase[] = [];
  for (const file of (await readdir(join(folder, method))).sort()) {
    const text = await readFile(join(folder, method, file), 'utf8');
    const name = `${method}/${file.replace(/\.jsonl?$/, '')}`;
    if (file.endsWith('.json')) cases.push(packCase(name, text));
    else {
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      cases.push(...lines.map((line, index) => packCase(`${name}:${index}`, line)));
    }
  }
  return cases;
}

async function wireCases(folder: string): Promise<unknown[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  const read = async (file: string) => ({
    name: file.slice(0, -'.json'.length),
    ...(JSON.parse(await readFile(join(folder, file), 'utf8')) as object),
  });
  return Promise.all(files.map(read));
}

const packed = (rows: readonly unknown[]) =>
  gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { level: 9 });

async function packRecording(source: string, target: string): Promise<void> {
  const folder = join(source, 'rpc');
  const entries = await readdir(folder, { withFileTypes: true });
  const methods = entries.filter((entry) => entry.isDirectory() && entry.name !== '_wire').map((entry) => entry.name);
  const cases: RecordedCase[] = [];
  for (const method of methods.sort()) cases.push(...(await casesOf(folder, method)));
  const wire = await wireCases(join(folder, '_wire'));
  await mkdir(target, { recursive: true });
  await writeFile(join(target, 'rpc.jsonl.gz'), packed(cases));
  await writeFile(join(target, 'wire.jsonl.gz'), packed(wire));
  console.log(`${cases.length} calls and ${wire.length} wire cases packed into ${target}`);
}

const [source, target = DEFAULT_TARGET] = process.argv.slice(2);
if (source === undefined) {
  console.error('usage: node recordings/player/pack-recording.ts <source folder> [target folder]');
  process.exitCode = 2;
} else await packRecording(source, target);
