/** A data set in a bucket of S3 or of what speaks like it. */
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { PermanentError, RetryableError } from '../../schemas/errors.ts';
import type { DatasetFolder } from './folder.ts';

export interface S3Options {
  readonly bucket: string;
  /** Without a slash at the end; empty for the whole bucket. */
  readonly prefix: string;
  /** `https://host`; null: Amazon's of the region. */
  readonly endpoint: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

class S3Refused extends PermanentError {
  constructor(what: string, status: number, body: string) {
    const code = /<Code>([^<]*)<\/Code>/.exec(body)?.[1] ?? 'no code';
    super(
      's3_refused',
      `${what} was refused: ${status} ${code}. Check the address, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    );
  }
}

const MOST_RETRIES = 5;

/** @throws PermanentError s3_credentials_missing */
export async function openS3Folder({ bucket, prefix, endpoint, environment }: S3Options): Promise<DatasetFolder> {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = environment;
  if (!accessKeyId || !secretAccessKey) {
    throw new PermanentError(
      's3_credentials_missing',
      'An S3 address needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.',
    );
  }
  const region = environment.AWS_REGION ?? 'us-east-1';
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  const client = new AwsClient({ ...keys, region, service: 's3', retries: MOST_RETRIES });
  const root = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}`;
  const keyOf = (path: string) => (prefix === '' ? path : `${prefix}/${path}`);
  const address = (path: string) => `${root}/${keyOf(path).split('/').map(encodeURIComponent).join('/')}`;
  const scratch = await mkdtemp(join(tmpdir(), 'verustream-export-'));

  /** Null for 404. */
  async function ask(method: string, url: string, body?: Blob | string): Promise<Response | null> {
    const asked = client.fetch(url, { method, ...(body !== undefined && { body }) });
    const answer = await asked.catch((cause: unknown) => {
      throw new RetryableError('s3_unreachable', `${root} cannot be reached: ${String(cause)}`, { cause });
    });
    if (answer.ok) return answer;
    if (answer.status === 404 && method !== 'PUT') return null;
    throw new S3Refused(`${method} ${url}`, answer.status, await answer.text());
  }

  return {
    name: `s3://${bucket}/${prefix}`,
    scratch,
    read: async (path) => (await ask('GET', address(path)))?.text() ?? null,
    has: async (path) => (await ask('HEAD', address(path))) !== null,
    async put(path, file) {
      await ask('PUT', address(path), await openAsBlob(file));
      await rm(file);
    },
    async write(path, text) {
      await ask('PUT', address(path), text);
    },
    async *files() {
      let token: string | null = null;
      do {
        const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix: keyOf('') });
        if (token !== null) query.set('continuation-token', token);
        const xml = (await (await ask('GET', `${root}?${query}`))?.text()) ?? '';
        for (const [, key = '', at = ''] of xml.matchAll(/<Key>([^<]*)<\/Key>\s*<LastModified>([^<]*)</g)) {
          const path = decodeURIComponent(key.replaceAll('+', ' ')).slice(keyOf('').length);
          if (path.endsWith('.parquet')) yield { path, writtenAt: Date.parse(at) };
        }
        token = /<NextContinuationToken>([^<]*)</.exec(xml)?.[1] ?? null;
      } while (token !== null);
    },
    async remove(path) {
      await ask('DELETE', address(path));
    },
    urlOf: (path) => `s3://${bucket}/${keyOf(path)}`,
    close: () => rm(scratch, { recursive: true, force: true }),
  };
}
