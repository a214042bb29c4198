/** Signed requests to S3: a connection that is lost, or a server that is busy, is asked again. */
import type { AwsClient } from 'aws4fetch';
import { pause } from '../../infra/repeat-until.ts';
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
/** What a server says that knows no conditions of a write. */
export const NOT_IMPLEMENTED = 501;
/** Too many requests; and conflict with a write that is under way, perhaps that of an earlier try. */
const REPEATED = new Set([429, 409]);

/** `root`: for messages. */
export function createS3Requests(client: AwsClient, root: string): (request: S3Request) => Promise<S3Answer> {
  return async ({ url, ...init }) => {
    for (let retries = 0; ; retries++) {
      const signed = await client.sign(url, init);
      const answer = await read(signed).catch((cause: unknown) => ({ cause }));
      const isLast = retries === MOST_RETRIES;
      if ('status' in answer) {
        if (isLast || !mayPass(answer.status)) return { ...answer, isRepeated: retries > 0 };
      } else if (isLast) {
        const { cause } = answer;
        throw new RetryableError('s3_unreachable', `${root} cannot be reached: ${String(cause)}`, { cause });
      }
      await pause(Math.random() * FIRST_RETRY_MS * 2 ** retries, []);
    }
  };
}

/** Whole: the connection may be lost in the middle of a text as well. */
async function read(request: Request): Promise<Omit<S3Answer, 'isRepeated'>> {
  const answer = await fetch(request);
  return { status: answer.status, tag: answer.headers.get('ETag'), text: await answer.text() };
}

const mayPass = (status: number): boolean => (status >= 500 && status !== NOT_IMPLEMENTED) || REPEATED.has(status);
