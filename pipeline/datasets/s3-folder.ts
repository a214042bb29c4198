/** A data set in a bucket of S3 or of a compatible server. */
import { openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { AwsClient } from 'aws4fetch';
import { makeScratchFolder } from '../../infra/scratch-folder.ts';
import { decodePart } from '../../infra/server-address.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { DatasetFolder } from './folder.ts';
import { createS3Requests, NOT_IMPLEMENTED, type S3Answer, type S3Request } from './s3-requests.ts';

export interface S3Options {
  readonly bucket: string;
  /** Without a slash at the end; empty for the whole bucket. */
  readonly prefix: string;
  /** `https://host`; null: Amazon's endpoint of the region. */
  readonly endpoint: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends requests in progress, and lets none begin. */
  readonly signal: AbortSignal;
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

/** Another export has written a text since this export read it. */
class S3Overtaken extends PermanentError {
  constructor(name: string) {
    super('export_busy', `Another export writes ${name}: wait for it, or choose another prefix.`);
  }
}

class S3ListingUnknown extends PermanentError {
  constructor(name: string) {
    super('s3_listing_unknown', `The list of ${name} has an entry without a Key or a date in LastModified.`);
  }
}

/** 412: precondition failed. 409: conflict of two conditional writes. */
const OVERTAKEN = new Set([412, 409]);

/** @throws PermanentError s3_credentials_missing */
export async function openS3Folder(options: S3Options): Promise<DatasetFolder> {
  const { bucket, prefix, endpoint, environment, signal } = options;
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
  const client = new AwsClient({ ...keys, region, service: 's3' });
  const root = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}`;
  const request = createS3Requests(client, root, signal);
  const keyOf = (path: string) => (prefix === '' ? path : `${prefix}/${path}`);
  const address = (path: string) => `${root}/${keyOf(path).split('/').map(encodeURIComponent).join('/')}`;
  const name = `s3://${bucket}/${prefix}`;
  /** By path of a text: its tag when this export last saw it; null when there was no such text. */
  const seen = new Map<string, string | null>();
  const scratch = await makeScratchFolder('export');

  /** Returns null for 404. */
  async function ask(method: S3Request['method'], url: string, body?: Blob | string): Promise<S3Answer | null> {
    const answer = await request({ method, url, ...(body !== undefined && { body }) });
    if (answer.status === 404 && method !== 'PUT') return null;
    return accepted(`${method} ${url}`, answer);
  }

  /** A text that an earlier try wrote, and whose response was lost, is not taken for another export's. */
  async function writeIf(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<S3Answer> {
    const answer = await request({ method: 'PUT', url, body, headers });
    if (answer.status === NOT_IMPLEMENTED) return accepted(`PUT ${url}`, await request({ method: 'PUT', url, body }));
    if (!OVERTAKEN.has(answer.status)) return accepted(`PUT ${url}`, answer);
    const there = answer.isRepeated ? await ask('GET', url) : null;
    if (there?.text === body) return there;
    throw new S3Overtaken(name);
  }

  function see(path: string, { tag }: S3Answer): void {
    if (tag) seen.set(path, tag);
    else seen.delete(path);
  }

  return {
    name,
    scratch: scratch.path,
    async read(path) {
      const answer = await ask('GET', address(path));
      if (!answer) seen.set(path, null);
      else see(path, answer);
      return answer?.text ?? null;
    },
    async put(path, file) {
      await ask('PUT', address(path), await openAsBlob(file));
      await rm(file);
    },
    // A bucket has no lock: an export that was overtaken must not name files that the other export removes.
    async write(path, text) {
      const tag = seen.get(path);
      const condition = tag === undefined ? {} : tag === null ? { 'If-None-Match': '*' } : { 'If-Match': tag };
      see(path, await writeIf(address(path), text, condition));
    },
    async *files() {
      let token: string | null = null;
      do {
        const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix: keyOf('') });
        if (token !== null) query.set('continuation-token', token);
        const xml = (await ask('GET', `${root}?${query}`))?.text ?? '';
        for (const { key, writtenAt } of listedIn(xml, name)) {
          const path = key.slice(keyOf('').length);
          if (path.endsWith('.parquet')) yield { path, writtenAt };
        }
        token = /<NextContinuationToken>([^<]+)</.exec(xml)?.[1] ?? null;
      } while (token !== null);
    },
    async remove(path) {
      await ask('DELETE', address(path));
    },
    urlOf: (path) => `s3://${bucket}/${keyOf(path)}`,
    close: () => scratch.remove(),
  };
}

/** The server decides the order of the members of an entry, and may add others. @throws S3ListingUnknown */
function* listedIn(xml: string, name: string): Generator<{ readonly key: string; readonly writtenAt: number }> {
  for (const [, entry = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = /<Key>([^<]+)</.exec(entry)?.[1];
    const writtenAt = Date.parse(/<LastModified>([^<]+)</.exec(entry)?.[1] ?? '');
    if (key === undefined || Number.isNaN(writtenAt)) throw new S3ListingUnknown(name);
    // A server may ignore encoding-type: then the key of another program may have a bare %.
    yield { key: decodePart(key.replaceAll('+', ' ')), writtenAt };
  }
}

/** @throws S3Refused */
function accepted(what: string, answer: S3Answer): S3Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new S3Refused(what, answer.status, answer.text);
}
