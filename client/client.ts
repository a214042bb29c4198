/** A typed client of the REST interface. */
import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './paths.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** API key; without one the allowance of the caller's address holds. */
  readonly key?: string;
}

export function createVerustreamClient({ baseUrl, key }: ClientOptions): Client<paths> {
  return createClient<paths>({ baseUrl, headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } });
}
