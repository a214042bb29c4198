/** `verustream export` into a bucket of a real S3 server (moto). */

import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run as exportData } from '../../commands/export.ts';
import { openS3Folder } from '../../pipeline/datasets/s3-folder.ts';
import type { DatasetFile } from '../../schemas/datasets/manifest.ts';
import { type RunningService, startService } from '../api/running-service.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { type DuckDb, openDuckDb } from '../support/datasets/duckdb.ts';
import { type Loss, startLosingProxy } from '../support/datasets/losing-proxy.ts';
import { type S3Server, startS3Server } from '../support/datasets/s3-server.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'user', AWS_SECRET_ACCESS_KEY: 'secret' };
let service: RunningService;
let server: S3Server;
let client: S3Client;
let duckdb: DuckDb;
beforeAll(async () => {
  Object.assign(process.env, KEYS);
  [service, server, duckdb] = await Promise.all([startService({ startHeight: 700 }), startS3Server(), openDuckDb()]);
  client = new S3Client({
    endpoint: server.url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: KEYS.AWS_ACCESS_KEY_ID, secretAccessKey: KEYS.AWS_SECRET_ACCESS_KEY },
  });
  await client.send(new CreateBucketCommand({ Bucket: 'mine' }));
  await service.settled(true);
});
afterAll(async () => {
  for (const name of Object.keys(KEYS)) delete process.env[name];
  duckdb?.close();
  client?.destroy();
  await server?.stop();
  await service?.stop();
});

const DESTINATION = { destination: 's3://mine/of/vrsc', tables: undefined, chains: undefined };
const TABLES = 'blocks,transfers,conversions';

async function exported(endpoint = server.url) {
  const { output, lines } = collectedOutput();
  const input = { ...DESTINATION, tables: TABLES, endpoint };
  const { exitCode, state } = await exportData(service.context, input, output);
  expect(exitCode, lines.join('\n')).toBe(0);
  return state as { tables: { table: string; rows: number; written: number }[] };
}

async function keys(): Promise<string[]> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'mine' }));
  return Contents.map(({ Key = '' }) => Key);
}

it('writes files and manifests, and later only changed files', async () => {
  const first = await exported();
  expect(first.tables.find(({ table }) => table === 'blocks')?.rows).toBe(701);
  const before = await keys();
  expect(before).toContain('of/vrsc/conversions.json');
  expect((await exported()).tables.map(({ written }) => written)).toEqual([0, 0, 0]);
  service.node.advanceTo(760);
  await service.settled(true);
  const more = await exported();
  expect(more.tables.find(({ table }) => table === 'blocks')).toMatchObject({ rows: 761, written: 1 });
  // Files that the manifest no longer names are removed, so that a pattern reads each row once.
  expect((await keys()).length).toBe(before.length);
});

it('lists the bucket instead of requesting each file, and writes missing files again', async () => {
  const proxy = await startLosingProxy(server.url);
  try {
    const files = (await keys()).filter((key) => key.endsWith('.parquet'));
    expect(files.length).toBeGreaterThan(2);
    await client.send(new DeleteObjectCommand({ Bucket: 'mine', Key: files[0] ?? '' }));
    expect((await exported(proxy.url)).tables.reduce((sum, { written }) => sum + written, 0)).toBe(1);
    expect(await keys()).toContain(files[0]);
    const asked = proxy.requests.filter((request) => !request.endsWith('.json'));
    const list = 'GET /mine';
    expect(asked).toEqual([list, `PUT /mine/${(files[0] ?? '').replace('=', '%3D')}`, list]);
  } finally {
    await proxy.stop();
  }
});

it('an export that another one has overtaken changes nothing in the bucket', async () => {
  const { signal } = new AbortController();
  const address = { bucket: 'mine', prefix: 'shared', endpoint: server.url, environment: KEYS, signal };
  const [slow, fast] = [await openS3Folder(address), await openS3Folder(address)];
  try {
    const busy = { code: 'export_busy', message: expect.stringContaining('Another export writes s3://mine/shared') };
    const overtakes = async (text: string) => {
      for (const folder of [slow, fast]) await folder.read('blocks.json');
      await fast.write('blocks.json', text);
      await fast.write('blocks.json', `${text} again`);
      await expect(slow.write('blocks.json', 'slow')).rejects.toMatchObject(busy);
      expect(await slow.read('blocks.json')).toBe(`${text} again`);
    };
    await overtakes('first');
    await overtakes('later');
    await slow.write('blocks.json', 'now');
    expect(await fast.read('blocks.json')).toBe('now');
  } finally {
    for (const folder of [slow, fast]) await folder.close();
  }
});

it("leaves a bucket's other Parquet files alone", async () => {
  const foreign = ['of/vrsc/blocks/eur.parquet', 'of/vrsc/blocks/chain=vrsc/mine.parquet', 'of/vrsc/eur.parquet'];
  for (const Key of foreign) await client.send(new PutObjectCommand({ Bucket: 'mine', Key, Body: 'mine' }));
  await exported();
  const there = await keys();
  for (const key of foreign) {
    expect(there).toContain(key);
    await client.send(new DeleteObjectCommand({ Bucket: 'mine', Key: key }));
  }
});

it('DuckDB reads the bucket, by a pattern and by a manifest', async () => {
  await duckdb.rows(
    `SET s3_endpoint = '${new URL(server.url).host}'; SET s3_use_ssl = false; SET s3_url_style = 'path'; SET s3_region = 'us-east-1';
     SET s3_access_key_id = '${KEYS.AWS_ACCESS_KEY_ID}'; SET s3_secret_access_key = '${KEYS.AWS_SECRET_ACCESS_KEY}'`,
  );
  const count = async (files: string) =>
    duckdb.rows(`SELECT count(*) AS n, max(height) AS tip FROM read_parquet(${files}, hive_partitioning = true)`);
  const expected = [{ n: '761', tip: 760 }];
  expect(await count(`'s3://mine/of/vrsc/blocks/*/*.parquet'`)).toEqual(expected);
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'mine', Key: 'of/vrsc/blocks.json' }));
  const manifest = JSON.parse((await Body?.transformToString()) ?? '[]') as DatasetFile[];
  expect(await count(`[${manifest.map(({ url }) => `'${url}'`).join(', ')}]`)).toEqual(expected);
});

it.each([
  ['relative/folder', {}, /"relative\/folder" is not a destination; allowed is an absolute path/],
  ['/tmp/a*b', {}, /allowed is an absolute path without/],
  ['/tmp/a', { endpoint: 'http://127.0.0.1:1' }, /--endpoint goes with an address s3/],
  ['s3://mine/x', { endpoint: 'localhost' }, /"localhost" is not an endpoint; allowed is http/],
  ['s3://mine/x', { tables: 'blocks,nothing' }, /there is no table "nothing"; allowed are blocks, /],
  ['s3://mine/x', { chains: 'nochain' }, /the chain "nochain" is not configured; allowed are vrsc/],
])('refuses %s %j', async (destination, more, said) => {
  const input = { ...DESTINATION, destination, ...more };
  const refused = exportData(service.context, input, collectedOutput().output);
  await expect(refused).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(said) });
});

it('a stopped export waits for no answer, and the next one continues', async () => {
  const proxy = await startLosingProxy(server.url);
  const stop = new AbortController();
  proxy.lose('PUT', Array<Loss>(100).fill('request'), () => {
    stop.abort();
    return new Promise(() => undefined);
  });
  try {
    const input = { ...DESTINATION, destination: 's3://mine/stopped', tables: TABLES };
    const asked = { ...input, endpoint: proxy.url };
    const stopped = exportData({ ...service.context, signal: stop.signal }, asked, collectedOutput().output);
    await expect(stopped).rejects.toMatchObject({ code: 'export_stopped' });
    const next = await exportData(service.context, { ...input, endpoint: server.url }, collectedOutput().output);
    expect(next.exitCode).toBe(0);
    expect(await keys()).toContain('stopped/blocks.json');
  } finally {
    await proxy.stop();
  }
});

it('reports why a server refuses', async () => {
  const input = { ...DESTINATION, destination: 's3://not-there/x', tables: 'blocks', endpoint: server.url };
  const refused = exportData(service.context, input, collectedOutput().output);
  await expect(refused).rejects.toMatchObject({
    code: 's3_refused',
    message: expect.stringContaining('404 NoSuchBucket'),
  });
});
