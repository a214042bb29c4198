/** Signed requests to S3: a connection that is lost, or a server that is busy, is asked again. */
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
/** A large file may go over a slow line: 50 kB/s. */
const BYTES_PER_MS = 50;
/** What a server says that knows no conditions of a write. */
export const NOT_IMPLEMENTED = 501;
/** Too many requests; and conflict with a write that is under way, perhaps that of an earlier try. */
const REPEATED = new Set([429, 409]);

/** `root`: for messages. `signal` ends what is under way. `tryMs`: how long a try without a body may take. */
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

/** Whole: the connection may be lost in the middle of a text as well. */
async function read(request: Request, signal: AbortSignal): Promise<Omit<S3Answer, 'isRepeated'>> {
  const answer = await fetch(request, { signal });
  return { status: answer.status, tag: answer.headers.get('ETag'), text: await answer.text() };
}

const sizeOf = ({ body = '' }: Pick<S3Request, 'body'>): number => (typeof body === 'string' ? body.length : body.size);

const mayPass = (status: number): boolean => (status >= 500 && status !== NOT_IMPLEMENTED) || REPEATED.has(status);
