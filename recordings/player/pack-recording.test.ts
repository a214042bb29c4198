import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLines } from './read-lines.ts';
import { loadRecordedCalls, readCases } from './recorded-calls.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('./pack-recording.ts', import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verustream-pack-'));
  await mkdir(join(folder, 'rpc', 'getinfo'), { recursive: true });
  await mkdir(join(folder, 'rpc', '_wire'), { recursive: true });
  const response = '{"result":{"fee":0.00000010,"total":1000000000000000000},"error":null,"id":"x"}';
  const named = `{"request":{"method": "getinfo", "params": []},"http_status":200,"headers":{},"response":${response}}\n`;
  const fuzz = [
    '{"request":{"method": "getinfo", "params": [ ]},"http_status":200,"response":{"result":1,"error":null,"id":"x"}}',
    '{"request":{"method": "getinfo", "params": [{"b":1,"a":1.0}]},"transport_error":"closed"}',
  ];
  await writeFile(join(folder, 'rpc', 'getinfo', 'ok.json'), named);
  await writeFile(join(folder, 'rpc', 'getinfo', '_fuzz.jsonl'), `${fuzz.join('\n')}\n`);
  await writeFile(
    join(folder, 'rpc', '_wire', 'no-auth.json'),
    '{"request":{"method":"POST"},"response":{"status":401}}',
  );
});
afterAll(() => rm(folder, { recursive: true }));

test('texts are packed as recorded, with the same bytes each time', async () => {
  const digest = async () => {
    await run(process.execPath, [script, folder, join(folder, 'packed')]);
    return createHash('sha256')
      .update(await readFile(join(folder, 'packed', 'rpc.jsonl.gz')))
      .digest('hex');
  };
  expect(await digest()).toBe(await digest());
  expect([...readCases(join(folder, 'packed'))]).toEqual([
    {
      name: 'getinfo/_fuzz:0',
      request: '{"method": "getinfo", "params": [ ]}',
      status: 200,
      body: '{"result":1,"error":null,"id":"x"}',
    },
    {
      name: 'getinfo/_fuzz:1',
      request: '{"method": "getinfo", "params": [{"b":1,"a":1.0}]}',
      transportError: 'closed',
    },
    {
      name: 'getinfo/ok',
      request: '{"method": "getinfo", "params": []}',
      status: 200,
      body: '{"result":{"fee":0.00000010,"total":1000000000000000000},"error":null,"id":"x"}',
    },
  ]);
  const wire = Array.from(readLines(join(folder, 'packed', 'wire.jsonl.gz')), String);
  expect(wire).toEqual(['{"name":"no-auth","request":{"method":"POST"},"response":{"status":401}}']);
});

test('a call is found in any notation; its named case wins over its fuzz case', () => {
  const calls = loadRecordedCalls(join(folder, 'packed'));
  expect(calls.find('getinfo', '[ ]')).toEqual({ result: '{"fee":0.00000010,"total":1000000000000000000}' });
  expect(calls.find('getinfo', '[{ "a":1.0, "\\u0062":1}]')).toEqual({ died: true });
  expect(calls.find('getinfo', '[{"a":1,"b":1}]')).toBeUndefined();
});
