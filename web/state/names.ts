/** Caches the names of i-addresses, and requests all names that are shown at about the same time in one call. */
import { effect, type Signal, signal } from '@preact/signals';
import { call } from '../calls.ts';
import { ask, watch } from './answers.ts';
import { isLow } from './meter.ts';

/** Maximum number of ids in one request. */
const MOST_AT_ONCE = 100;
/** More are kept only while they are shown. */
const MOST_KEPT = 2_000;
const GATHERED_MS = 50;
/** How often a low allowance is looked at again. */
const LOW_MS = 5_000;
/** Delay before a failed call without a retry time is repeated. */
const RETRY_MS = 30_000;
/** Status with which the service refuses ids permanently. */
const BAD_REQUEST = 400;

const known = new Map<string, Signal<string | null>>();
/** Ids whose names a part of the page shows, or will show once they are known. */
const shown = new Set<string>();
let wanted = new Set<string>();

/** The name is null until it is known, and where no chain knows the identity. */
export function nameOf(id: string): Signal<string | null> {
  const kept = known.get(id);
  if (kept) return kept;
  const name = signal<string | null>(null, {
    watched: () => void shown.add(id),
    unwatched: () => void shown.delete(id),
  });
  if (known.size >= MOST_KEPT) forgetUnshown();
  known.set(id, name);
  if (wanted.size === 0) setTimeout(askForWanted, GATHERED_MS);
  wanted.add(id);
  return name;
}

/** A part of the page keeps the signal that it shows: another one for the same id would leave it without its name. */
function forgetUnshown(): void {
  for (const id of known.keys()) if (!shown.has(id)) known.delete(id);
}

function askForWanted(): void {
  if (isLow.value) {
    setTimeout(askForWanted, LOW_MS);
    return;
  }
  const ids = [...wanted];
  wanted = new Set();
  for (let at = 0; at < ids.length; at += MOST_AT_ONCE) askFor(ids.slice(at, at + MOST_AT_ONCE));
}

/** Watches the answer until it arrives, since no panel would repeat the request after a limit or an outage. */
function askFor(ids: readonly string[]): void {
  const answer = ask(call('/api/names', { query: { ids: ids.join(',') } }));
  const leave = watch(answer);
  const stop = effect(() => {
    const [arrived, trouble, isBusy] = [answer.shown.value, answer.trouble.value, answer.isBusy.value];
    for (const { id, name } of arrived?.data.results ?? []) {
      const of = known.get(id);
      if (of) of.value = name;
    }
    if (arrived || trouble?.status === BAD_REQUEST) {
      leave();
      queueMicrotask(() => stop());
    } else if (!isBusy && trouble && trouble.retryAt === null) setTimeout(answer.refresh, RETRY_MS);
  });
}
