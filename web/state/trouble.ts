/** Why a request failed. */
import { messageOf } from '../text/message-of.ts';

export interface Trouble {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly requestId: string | null;
  /** When the page retries by itself, in milliseconds since the epoch. */
  readonly retryAt: number | null;
  /** The invalid parameters. */
  readonly parameters: readonly string[];
  /** Names similar to the unknown one. */
  readonly suggestions: readonly string[];
}

const RETRY_MS = 5_000;

export function troubleOf(problem: unknown, response: Response): Trouble {
  const members = typeof problem === 'object' && problem !== null ? (problem as Readonly<Record<string, unknown>>) : {};
  const text = (name: string) => (typeof members[name] === 'string' ? members[name] : null);
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const { errors, suggestions } = members;
  return {
    code: text('code') ?? `http_${response.status}`,
    status: response.status,
    detail: text('detail') ?? response.statusText,
    requestId: text('instance') ?? response.headers.get('X-Request-Id'),
    retryAt: Number.isNaN(seconds) ? null : Date.now() + seconds * 1000,
    parameters: Array.isArray(errors)
      ? errors.map((entry: { pointer?: unknown }) => String(entry.pointer ?? '').replace(/^\//, ''))
      : [],
    suggestions: Array.isArray(suggestions) ? suggestions.map(String) : [],
  };
}

export function unreachable(error: unknown): Trouble {
  return {
    code: 'unreachable',
    status: 0,
    detail: `the service did not answer: ${messageOf(error)}`,
    requestId: null,
    retryAt: Date.now() + RETRY_MS,
    parameters: [],
    suggestions: [],
  };
}
