/** Reads the data set over HTTP: with DuckDB and the statements of the docs, with an S3 client, and with plain requests. */

import { createHash } from 'node:crypto';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { numbersAsText } from '../../api/http/numbers.ts';
import type { DatasetFile } from '../../schemas/datasets/manifest.ts';
import { schemaFaults } from '../api/client.ts';
import type { DuckDb } from '../support/datasets/duckdb.ts';
import type { ExportedService, OpenedDataset } from './exported-service.ts';

export function datasetIsRead(opened: () => OpenedDataset): void {
  let service: ExportedService;
  let duckdb: DuckDb;
  let s3: S3Client;
  beforeAll(() => {
    ({ service, duckdb } = opened());
    s3 = new S3Client({
      endpoint: service.url,
      region: 'any',
      forcePathStyle: true,
      credentials: { accessKeyId: 'nobody', secretAccessKey: 'nothing' },
    });
  });
  afterAll(() => s3?.destroy());

  const manifest = async (table: string): Promise<DatasetFile[]> =>
    (await (await fetch(`${service.url}/api/datasets/${table}.json`)).json()) as DatasetFile[];

  interface Counted {
    readonly total: number;
  }

  async function settledConversions(): Promise<number> {
    let total = 0;
    for (const status of ['completed', 'refunded', 'unmatched']) {
      const answer = await fetch(`${service.url}/api/conversions/?status=${status}&pageSize=1`);
      total += ((await answer.json()) as Counted).total;
    }
    return total;
  }

  it('DuckDB reads the files of a manifest', async () => {
    const files = `SET VARIABLE files = (SELECT list(url) FROM read_json('${service.url}/api/datasets/conversions.json'))`;
    await duckdb.rows(files);
    const [row] = await duckdb.rows(
      `SELECT count(*) AS n, sum(amount_in) AS paid, min(chain) AS chain FROM read_parquet(getvariable('files'))`,
    );
    expect(row).toMatchObject({ n: String(await settledConversions()), chain: 'vrsc' });
    const [stored] = await service.stores.clickhouse.query('SELECT sum(amount_in) AS paid FROM conversions');
    expect(row?.paid).toBe(stored?.paid);
  });

  it('DuckDB reads the bucket by a pattern', async () => {
    await duckdb.rows(
      `SET s3_endpoint = '127.0.0.1:${service.port}'; SET s3_use_ssl = false; SET s3_url_style = 'path'; SET s3_region = 'any'`,
    );
    const read = (table: string) => `read_parquet('s3://datasets/${table}/*/*.parquet', hive_partitioning = true)`;
    const [row] = await duckdb.rows(
      `SELECT count(*) AS n, count(*) FILTER (chain = 'vrsc') AS own, sum(usd_value) AS usd FROM ${read('conversions')}`,
    );
    const n = String(await settledConversions());
    expect(row).toMatchObject({ n, own: n });
    const blocks = await duckdb.rows(
      `SELECT count(*) AS n, max(height) AS tip FROM ${read('blocks')} WHERE chain = 'vrsc'`,
    );
    expect(blocks).toEqual([{ n: String(service.node.height + 1), tip: service.node.height }]);
  });

  it('index and manifests match the OpenAPI document', async () => {
    const { paths } = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as { readonly paths: object };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/datasets/', '/api/datasets/{manifest}']));
    const index = await (await fetch(`${service.url}/api/datasets/`)).json();
    expect(schemaFaults('/api/datasets/', index)).toBeNull();
    for (const { table, files } of (index as { tables: { table: string; files: number }[] }).tables) {
      if (files > 0) expect(schemaFaults(`/api/datasets/${table}.json`, await manifest(table)), table).toBeNull();
    }
  });

  it('index and manifests have their numbers as text on request', async () => {
    for (const path of ['/api/datasets/', '/api/datasets/conversions.json']) {
      const answer = await fetch(`${service.url}${path}?numbers=text`);
      expect(answer.headers.get('content-type')).toBe('application/vnd.verustream.text+json');
      const text = await answer.text();
      const plain = await fetch(`${service.url}${path}`);
      expect(JSON.parse(text)).toEqual(numbersAsText(await plain.json()));
      expect(text).not.toMatch(/": -?\d/);
      const tag = answer.headers.get('etag');
      if (tag !== null) expect(tag).not.toBe(plain.headers.get('etag'));
      const refused = await fetch(`${service.url}${path}?numbers=double`);
      expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_parameter' }]);
    }
  });

  it('a manifest describes each file correctly', async () => {
    for (const table of ['blocks', 'transfers', 'prices', 'conversions']) {
      const files = await manifest(table);
      expect(files.length).toBeGreaterThan(0);
      for (const file of files) {
        const bytes = Buffer.from(await (await fetch(file.url)).arrayBuffer());
        expect(bytes.length).toBe(file.bytes);
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256);
        const [counted] = await duckdb.rows(
          `SELECT count(*) AS n, min(height) AS low, max(height) AS high FROM read_parquet('${file.url}')`,
        );
        expect(counted).toEqual({ n: String(file.rows), low: file.minHeight, high: file.maxHeight });
      }
      const days = new Set(files.map(({ chain, day }) => `${chain} ${day}`));
      expect(days.size).toBe(files.length);
    }
  });

  it('ranges, HEAD and validators', async () => {
    const [file] = await manifest('blocks');
    const url = file?.url ?? '';
    const size = file?.bytes ?? 0;
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')]).toEqual([
      200,
      String(size),
      'bytes',
    ]);
    const etag = head.headers.get('etag') ?? '';
    const part = async (range: string, more: Record<string, string> = {}) => {
      const answer = await fetch(url, { headers: { range, ...more } });
      return {
        status: answer.status,
        said: answer.headers.get('content-range'),
        body: Buffer.from(await answer.arrayBuffer()),
      };
    };
    expect(await part('bytes=4-11')).toEqual({ status: 206, said: `bytes 4-11/${size}`, body: whole.subarray(4, 12) });
    expect(await part('bytes=-8')).toMatchObject({ status: 206, body: whole.subarray(-8) });
    expect(await part(`bytes=${size - 3}-`)).toMatchObject({ status: 206, body: whole.subarray(-3) });
    expect(await part(`bytes=${size}-`)).toMatchObject({ status: 416, said: `bytes */${size}` });
    expect(await part('bytes=0-0', { 'if-range': etag })).toMatchObject({ status: 206, body: whole.subarray(0, 1) });
    expect(await part('bytes=0-0', { 'if-range': '"other"' })).toMatchObject({ status: 200, body: whole });
    expect(await part('bytes=0-1,5-6')).toMatchObject({ status: 200 });
    for (const sent of [etag, '*']) {
      const unchanged = await fetch(url, { headers: { 'if-none-match': sent } });
      expect([unchanged.status, unchanged.headers.get('content-length')]).toEqual([304, null]);
    }
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  });

  it('nothing outside the data set is served', async () => {
    for (const path of ['notes/blocks.json', '.lock', '.writing/x.parquet', '..%2f..%2fetc%2fpasswd', 'nothing.json']) {
      const answer = await fetch(`${service.url}/api/datasets/${path}`);
      expect(answer.status, path).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'not_found' });
    }
    const index = (await (await fetch(`${service.url}/api/datasets/`)).json()) as {
      tables: { table: string; rows: number }[];
    };
    expect(index.tables.find(({ table }) => table === 'blocks')?.rows).toBe(service.node.height + 1);
  });

  it('an S3 client lists page by page, folder by folder, and reads', async () => {
    const all: string[] = [];
    let token: string | undefined;
    do {
      const page = await s3.send(
        new ListObjectsV2Command({ Bucket: 'datasets', MaxKeys: 5, ContinuationToken: token }),
      );
      expect(page.KeyCount).toBeLessThanOrEqual(5);
      all.push(...(page.Contents ?? []).map(({ Key = '' }) => Key));
      token = page.NextContinuationToken;
    } while (token);
    const tables = [
      'balance_deltas',
      'blocks',
      'bridge',
      'conversions',
      'currencies',
      'currency_states',
      'identity_states',
    ];
    const manifests = await Promise.all([...tables, 'prices', 'rewards', 'transactions', 'transfers'].map(manifest));
    const named = manifests.flat().map(({ path }) => path);
    expect(all.filter((key) => key.endsWith('.parquet')).sort()).toEqual(named.sort());
    expect(all).toEqual([...all].sort());
    const byMarker: string[] = [];
    let marker: string | undefined;
    do {
      const page = await s3.send(new ListObjectsCommand({ Bucket: 'datasets', MaxKeys: 20, Marker: marker }));
      byMarker.push(...(page.Contents ?? []).map(({ Key = '' }) => Key));
      marker = page.NextMarker;
    } while (marker && byMarker.length <= all.length);
    expect(byMarker).toEqual(all);
    const top = await s3.send(new ListObjectsV2Command({ Bucket: 'datasets', Delimiter: '/' }));
    expect(top.CommonPrefixes?.map(({ Prefix }) => Prefix)).toContain('conversions/');
    const inside = await s3.send(new ListObjectsV2Command({ Bucket: 'datasets', Delimiter: '/', Prefix: 'blocks/' }));
    expect(inside.CommonPrefixes).toEqual([{ Prefix: 'blocks/chain=vrsc/' }]);
    const Key = named[0] ?? '';
    const head = await s3.send(new HeadObjectCommand({ Bucket: 'datasets', Key }));
    const got = await s3.send(new GetObjectCommand({ Bucket: 'datasets', Key, Range: 'bytes=0-3' }));
    expect(await got.Body?.transformToString()).toBe('PAR1');
    expect(head.ETag).toBe(got.ETag);
    await expect(s3.send(new GetObjectCommand({ Bucket: 'datasets', Key: 'none' }))).rejects.toMatchObject({
      name: 'NoSuchKey',
    });
  });
}
