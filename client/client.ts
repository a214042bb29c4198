/** A typed client of the REST interface. */
import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { parseExactly, type Textual } from './exact-json.ts';
import type { paths } from './paths.ts';

export interface ClientOptions {
  /** For example `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** API key; without one, the allowance of the caller's IP address applies. */
  readonly key?: string;
  /** How to read the numbers of answers: as doubles (the default), or as the digits that the service wrote. */
  readonly numbers?: 'double' | 'text';
}

type TextualAnswers<Operation> = Operation extends { responses: infer Responses }
  ? Omit<Operation, 'responses'> & {
      responses: {
        [Status in keyof Responses]: Status extends 'default' ? Responses[Status] : Textual<Responses[Status]>;
      };
    }
  : Operation;

/** The paths of a client that reads numbers as text. */
export type TextPaths = {
  [Path in keyof paths]: { [Method in keyof paths[Path]]: TextualAnswers<paths[Path][Method]> };
};

export function createVerustreamClient(options: ClientOptions & { readonly numbers: 'text' }): Client<TextPaths>;
export function createVerustreamClient(options: ClientOptions): Client<paths>;
export function createVerustreamClient({ baseUrl, key, numbers = 'double' }: ClientOptions): Client<paths> {
  const client = createClient<paths>({ baseUrl, headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } });
  if (numbers === 'text') client.use(exactNumbers);
  return client;
}

/** A Response with this status must not have a body, not even an empty one. */
const NO_CONTENT = 204;

const exactNumbers: Middleware = {
  async onResponse({ response }) {
    const type = response.headers.get('Content-Type') ?? '';
    if (response.status === NO_CONTENT || !type.includes('json') || type.includes('problem')) return undefined;
    const text = await response.text();
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    headers.set('Content-Length', String(text.length)); // openapi-fetch calls json() only when there is a length
    const exact = new Response(text, { status, statusText, headers });
    if (response.ok) return Object.defineProperty(exact, 'json', { value: () => parseExactly(text) });
    // For an error, openapi-fetch calls text() and then JSON.parse, and keeps what JSON.parse rejects: this object, or text that is not
    // JSON.
    return Object.defineProperty(exact, 'text', { value: () => parseExactly(text).catch(() => text) });
  },
};
