/** A bucket over a line that loses connections: every write takes effect once, and another export is recognised. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { AwsClient } from 'aws4fetch';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { DatasetFolder } from '../../pipeline/datasets/folder.ts';
import { openS3Folder } from '../../pipeline/datasets/s3-folder.ts';
import { createS3Requests } from '../../pipeline/datasets/s3-requests.ts';
import { type LosingProxy, type Loss, startLosingProxy } from '../support/datasets/losing-proxy.ts';
import { type S3Server, startS3Server } from '../support/datasets/s3-server.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'user', AWS_SECRET_ACCESS_KEY: 'secret' };
const NAME = 'blocks.json';
let server: S3Server;
let proxy: LosingProxy;
let prefix = 0;
let stop: AbortController;
/** The folder through the proxy. */
let folder: DatasetFolder;
/** The same folder, directly. */
let other: DatasetFolder;
beforeAll(async () => {
  server = await startS3Server();
  proxy = await startLosingProxy(server.url);
  const credentials = { accessKeyId: KEYS.AWS_ACCESS_KEY_ID, secretAccessKey: KEYS.AWS_SECRET_ACCESS_KEY };
  const client = new S3Client({ endpoint: server.url, region: 'us-east-1', forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: 'mine' }));
  client.destroy();
});
afterAll(async () => {
  await proxy?.stop();
  await server?.stop();
});
beforeEach(async () => {
  prefix += 1;
  stop = new AbortController();
  const address = { bucket: 'mine', prefix: String(prefix), environment: KEYS, signal: stop.signal };
  folder = await openS3Folder({ ...address, endpoint: proxy.url });
  other = await openS3Folder({ ...address, endpoint: server.url });
});
afterEach(async () => {
  for (const each of [folder, other]) await each.close();
});

it.each(['request', 'answer', 'text'] as const)(
  'reads, writes, lists and removes even if the %s is lost',
  async (loss) => {
    const lost = [loss, loss];
    const file = join(folder.scratch, 'x');
    await writeFile(file, 'rows');
    proxy.lose('PUT', lost);
    await folder.put('blocks/chain=vrsc/a.parquet', file);
    proxy.lose('GET', lost);
    expect(await folder.read(NAME)).toBeNull();
    for (const text of ['first', 'second']) {
      proxy.lose('PUT', lost);
      await folder.write(NAME, text);
      proxy.lose('GET', lost);
      expect(await folder.read(NAME)).toBe(text);
    }
    const paths = async () => {
      const found = [];
      for await (const { path } of folder.files()) found.push(path);
      return found;
    };
    proxy.lose('GET', lost);
    expect(await paths()).toEqual(['blocks/chain=vrsc/a.parquet']);
    proxy.lose('DELETE', lost);
    await folder.remove('blocks/chain=vrsc/a.parquet');
    expect(await paths()).toEqual([]);
  },
);

it.each<Loss[][]>([[['answer']], [[503]], [['answer', 409]]])(
  'after %j a write recognises its own earlier write',
  async (lost) => {
    await folder.read(NAME);
    for (const text of ['first', 'second', 'third']) {
      proxy.lose('PUT', lost);
      await folder.write(NAME, text);
      expect(await other.read(NAME)).toBe(text);
    }
  },
);

it.each(['request', 'answer'] as const)(
  'an export is overtaken by another one that wrote after the %s was lost',
  async (lost) => {
    await folder.write(NAME, 'before');
    proxy.lose('PUT', [lost], async () => {
      await other.read(NAME);
      await other.write(NAME, 'of the other');
    });
    await expect(folder.write(NAME, 'own')).rejects.toMatchObject({ code: 'export_busy' });
    expect(await folder.read(NAME)).toBe('of the other');
  },
);

it('a stop ends the wait for an answer and prevents further requests', async () => {
  const file = join(folder.scratch, 'x');
  await writeFile(file, 'rows');
  const arrived = Promise.withResolvers<void>();
  proxy.lose('PUT', Array<Loss>(6).fill('request'), () => {
    arrived.resolve();
    return new Promise(() => undefined);
  });
  const put = folder.put('blocks/chain=vrsc/a.parquet', file);
  const stopped = expect(put).rejects.toThrow('stopped');
  await arrived.promise;
  stop.abort(new Error('stopped'));
  await stopped;
  const asked = proxy.requests.length;
  await expect(folder.read(NAME)).rejects.toThrow('stopped');
  await expect(folder.write(NAME, 'text')).rejects.toThrow('stopped');
  expect(proxy.requests).toHaveLength(asked);
});

it('a stop ends the retries', async () => {
  proxy.lose('GET', [503, 503, 503, 503, 503, 503], async () => stop.abort(new Error('stopped')));
  const asked = proxy.requests.length;
  await expect(folder.read(NAME)).rejects.toThrow('stopped');
  expect(proxy.requests).toHaveLength(asked + 1);
});

it('retries when no answer arrives', async () => {
  const client = new AwsClient({ accessKeyId: 'user', secretAccessKey: 'secret', service: 's3' });
  const request = createS3Requests(client, proxy.url, stop.signal, 500);
  let isFirst = true;
  proxy.lose('GET', ['request', 'request'], () => {
    if (!isFirst) return Promise.resolve();
    isFirst = false;
    return new Promise(() => undefined);
  });
  expect(await request({ method: 'GET', url: `${proxy.url}/mine/nothing` })).toMatchObject({ status: 404 });
  expect(isFirst).toBe(false);
});

it('fails after some retries', async () => {
  proxy.lose('GET', Array<Loss>(6).fill('request'));
  await expect(folder.read(NAME)).rejects.toMatchObject({ code: 's3_unreachable' });
  expect(await folder.read(NAME)).toBeNull();
});
