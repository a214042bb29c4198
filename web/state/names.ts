/** Caches the names of i-addresses, and requests all names that are shown at about the same time in one call. */
import { effect, type Signal, signal } from '@preact/signals';
import { call } from '../calls.ts';
import { ask, watch } from './answers.ts';
import { isLow } from './meter.ts';

/** Maximum number of ids in one request. */
const MOST_AT_ONCE = 100;
const MOST_KEPT = 2_000;
const GATHERED_MS = 50;
/** Delay before a failed call without a retry time is repeated. */
const RETRY_MS = 30_000;
/** Status with which the service refuses ids permanently. */
const BAD_REQUEST = 400;

const known = new Map<string, Signal<string | null>>();
let wanted = new Set<string>();

/** The name is null until it is known, and where no chain knows the identity. */
export function nameOf(id: string): Signal<string | null> {
  const name = known.get(id) ?? signal<string | null>(null);
  if (!known.has(id)) {
    if (known.size >= MOST_KEPT) known.clear();
    known.set(id, name);
    if (wanted.size === 0) setTimeout(askForWanted, GATHERED_MS);
    wanted.add(id);
  }
  return name;
}

function askForWanted(): void {
  const ids = [...wanted];
  wanted = new Set();
  if (isLow.value) {
    for (const id of ids) known.delete(id);
    return;
  }
  for (let at = 0; at < ids.length; at += MOST_AT_ONCE) askFor(ids.slice(at, at + MOST_AT_ONCE));
}

/** Watches the answer until it arrives, since no panel would repeat the request after a limit or an outage. */
function askFor(ids: readonly string[]): void {
  const answer = ask(call('/api/names', { query: { ids: ids.join(',') } }));
  const leave = watch(answer);
  const stop = effect(() => {
    const [shown, trouble, isBusy] = [answer.shown.value, answer.trouble.value, answer.isBusy.value];
    for (const { id, name } of shown?.data.results ?? []) {
      const of = known.get(id);
      if (of) of.value = name;
    }
    if (shown || trouble?.status === BAD_REQUEST) {
      leave();
      queueMicrotask(() => stop());
    } else if (!isBusy && trouble && trouble.retryAt === null) setTimeout(answer.refresh, RETRY_MS);
  });
}
