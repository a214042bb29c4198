/** The reader's allowance, from the newest answer. */
import { computed, effect, signal } from '@preact/signals';
import { isOfAccount } from '../calls.ts';
import { now } from './clock.ts';
import { session } from './session.ts';

interface Allowance {
  readonly limit: number;
  readonly left: number;
  /** When the allowance is full again, in milliseconds since the epoch. */
  readonly wholeAt: number;
}

export const allowance = signal<Allowance | null>(null);

/** Requests of this page, newest last. */
export const asked = signal<readonly { readonly url: string; readonly credits: number; readonly at: number }[]>([]);

const MOST_KEPT = 100;
const LOW = 0.2;

/** While true, the page sends only requests that the reader causes. */
export const isLow = computed(() => {
  const { value } = allowance;
  return value !== null && value.left <= value.limit * LOW && now.value < value.wholeAt;
});

export function noteLimits(url: string, headers: Headers): void {
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN);
  const [limit, left, seconds] = [
    number('X-RateLimit-Limit'),
    number('X-RateLimit-Remaining'),
    number('X-RateLimit-Reset'),
  ];
  if (!Number.isNaN(limit) && isOfReader(headers))
    allowance.value = { limit, left, wholeAt: Date.now() + seconds * 1000 };
  const credits = number('X-Credits-Cost');
  const entry = { url, credits: Number.isNaN(credits) ? 0 : credits, at: Date.now() };
  asked.value = [...asked.value.slice(1 - MOST_KEPT), entry];
}

/** Account paths are charged to the network of the session, which has its own allowance. */
const isOfReader = (headers: Headers): boolean =>
  session.peek() === null || !headers.get('RateLimit-Policy')?.includes('"requests"');

/** As /api/usage/now reports it. */
interface Standing {
  readonly creditsPerMinute: string;
  readonly remaining: string;
  readonly resetSeconds: string;
}

export function noteStanding({ creditsPerMinute, remaining, resetSeconds }: Standing): void {
  const wholeAt = Date.now() + Number(resetSeconds) * 1000;
  allowance.value = { limit: Number(creditsPerMinute), left: Number(remaining), wholeAt };
}

/** Another reader has another allowance, and must not see the account requests of the previous reader. */
effect(() => {
  session.value;
  allowance.value = null;
  asked.value = asked.peek().filter(({ url }) => !isOfAccount(url));
});
