/** The reader's allowance, as the newest answer gave it. */
import { computed, effect, signal } from '@preact/signals';
import { isOfAccount } from '../calls.ts';
import { now } from './clock.ts';
import { session } from './session.ts';

interface Allowance {
  readonly limit: number;
  readonly left: number;
  /** When it is whole again: milliseconds since the epoch. */
  readonly wholeAt: number;
}

export const allowance = signal<Allowance | null>(null);

/** What this page asked, newest last. */
export const asked = signal<readonly { readonly url: string; readonly credits: number; readonly at: number }[]>([]);

const MOST_KEPT = 100;
const LOW = 0.2;

/** While true, only what the reader asks for is requested. */
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

/** The paths of an account are paid by the network of a session, whose allowance is another. */
const isOfReader = (headers: Headers): boolean =>
  session.peek() === null || !headers.get('RateLimit-Policy')?.includes('"requests"');

/** As /api/usage/now says it. */
interface Standing {
  readonly creditsPerMinute: string;
  readonly remaining: string;
  readonly resetSeconds: string;
}

export function noteStanding({ creditsPerMinute, remaining, resetSeconds }: Standing): void {
  const wholeAt = Date.now() + Number(resetSeconds) * 1000;
  allowance.value = { limit: Number(creditsPerMinute), left: Number(remaining), wholeAt };
}

/** Another reader has another allowance, and does not see what the one before asked about its account. */
effect(() => {
  session.value;
  allowance.value = null;
  asked.value = asked.peek().filter(({ url }) => !isOfAccount(url));
});
