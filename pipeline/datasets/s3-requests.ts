/** Signed requests to S3, which are repeated when the connection is lost or the server is busy. */
import type { AwsClient } from 'aws4fetch';
import { pause, withOwnSignal } from '../../infra/repeat-until.ts';
import { RetryableError } from '../../schemas/errors.ts';

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly body?: Blob | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface S3Answer {
  readonly status: number;
  readonly tag: string | null;
  readonly text: string;
  /** Whether an earlier try may have taken effect too. */
  readonly isRepeated: boolean;
}

const MOST_RETRIES = 5;
const FIRST_RETRY_MS = 100;
const TRY_MS = 60_000;
/** Allows for a slow line with a large file: 50 kB/s. */
const BYTES_PER_MS = 50;
/** Status of a server that does not support conditional writes. */
export const NOT_IMPLEMENTED = 501;
/** 429: too many requests. 409: conflict with a write in progress, perhaps that of an earlier try. */
const REPEATED = new Set([429, 409]);

/** `root` is for messages. `signal` ends requests in progress. `tryMs` is how long a try without a body may take. */
export function createS3Requests(
  client: AwsClient,
  root: string,
  signal: AbortSignal,
  tryMs = TRY_MS,
): (request: S3Request) => Promise<S3Answer> {
  return async ({ url, ...init }) => {
    const limitMs = tryMs + sizeOf(init) / BYTES_PER_MS;
    for (let retries = 0; ; retries++) {
      signal.throwIfAborted();
      const signed = await client.sign(url, init);
      const answer = await withOwnSignal(signal, limitMs, (own) => read(signed, own)).catch((cause: unknown) => {
        signal.throwIfAborted();
        return { cause };
      });
      const isLast = retries === MOST_RETRIES;
      if ('status' in answer) {
        if (isLast || !mayPass(answer.status)) return { ...answer, isRepeated: retries > 0 };
      } else if (isLast) {
        const { cause } = answer;
        throw new RetryableError('s3_unreachable', `${root} cannot be reached: ${String(cause)}`, { cause });
      }
      await pause(Math.random() * FIRST_RETRY_MS * 2 ** retries, signal);
    }
  };
}

/** Reads the whole response, because the connection may also be lost in the middle of it. */
async function read(request: Request, signal: AbortSignal): Promise<Omit<S3Answer, 'isRepeated'>> {
  const answer = await fetch(request, { signal });
  return { status: answer.status, tag: answer.headers.get('ETag'), text: await answer.text() };
}

const sizeOf = ({ body = '' }: Pick<S3Request, 'body'>): number => (typeof body === 'string' ? body.length : body.size);

const mayPass = (status: number): boolean => (status >= 500 && status !== NOT_IMPLEMENTED) || REPEATED.has(status);
