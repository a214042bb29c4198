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

/** A text was written since it was read here. */
class S3Overtaken extends PermanentError {
  constructor(name: string) {
    super('export_busy', `Another export writes ${name}: wait for it, or choose another prefix.`);
  }
}

const MOST_RETRIES = 5;
/** Precondition failed, and conflict of two conditional writes. */
const OVERTAKEN = new Set([412, 409]);
/** What a server says that knows no conditions of a write. */
const NOT_IMPLEMENTED = 501;

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
  const name = `s3://${bucket}/${prefix}`;
  /** By path of a text: its tag as this export last saw it; null where there was none. */
  const seen = new Map<string, string | null>();
  const scratch = await mkdtemp(join(tmpdir(), 'verustream-export-'));

  /** Null for 404. */
  async function ask(
    method: string,
    url: string,
    body?: Blob | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response | null> {
    const asked = client.fetch(url, { method, headers, ...(body !== undefined && { body }) });
    const answer = await asked.catch((cause: unknown) => {
      throw new RetryableError('s3_unreachable', `${root} cannot be reached: ${String(cause)}`, { cause });
    });
    if (answer.ok) return answer;
    if (answer.status === 404 && method !== 'PUT') return null;
    const isConditional = Object.keys(headers).length > 0;
    if (isConditional && OVERTAKEN.has(answer.status)) throw new S3Overtaken(name);
    if (isConditional && answer.status === NOT_IMPLEMENTED) return ask(method, url, body);
    throw new S3Refused(`${method} ${url}`, answer.status, await answer.text());
  }

  function see(path: string, answer: Response | null): void {
    const tag = answer?.headers.get('ETag');
    if (tag) seen.set(path, tag);
    else seen.delete(path);
  }

  return {
    name,
    scratch,
    async read(path) {
      const answer = await ask('GET', address(path));
      if (!answer) seen.set(path, null);
      else see(path, answer);
      return answer?.text() ?? null;
    },
    has: async (path) => (await ask('HEAD', address(path))) !== null,
    async put(path, file) {
      await ask('PUT', address(path), await openAsBlob(file));
      await rm(file);
    },
    // A bucket has no lock: an export that another one has overtaken must not name files that the other removes.
    async write(path, text) {
      const tag = seen.get(path);
      const condition = tag === undefined ? {} : tag === null ? { 'If-None-Match': '*' } : { 'If-Match': tag };
      see(path, await ask('PUT', address(path), text, condition));
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
        token = /<NextContinuationToken>([^<]+)</.exec(xml)?.[1] ?? null;
      } while (token !== null);
    },
    async remove(path) {
      await ask('DELETE', address(path));
    },
    urlOf: (path) => `s3://${bucket}/${keyOf(path)}`,
    close: () => rm(scratch, { recursive: true, force: true }),
  };
}
