/** The caller's allowance, as the newest answer told it. */
import { computed, signal } from '@preact/signals';

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

/** Nothing is asked that nobody asked for. */
export const isLow = computed(() => {
  const { value } = allowance;
  return value !== null && value.left <= value.limit * LOW;
});

export function noteLimits(url: string, headers: Headers): void {
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN);
  const [limit, left, seconds] = [
    number('X-RateLimit-Limit'),
    number('X-RateLimit-Remaining'),
    number('X-RateLimit-Reset'),
  ];
  if (!Number.isNaN(limit)) allowance.value = { limit, left, wholeAt: Date.now() + seconds * 1000 };
  const credits = number('X-Credits-Cost');
  const entry = { url, credits: Number.isNaN(credits) ? 0 : credits, at: Date.now() };
  asked.value = [...asked.value.slice(1 - MOST_KEPT), entry];
}
