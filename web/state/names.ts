/** Names of i-addresses, asked for in one call by all that are shown at a time, and kept. */
import { effect, type Signal, signal } from '@preact/signals';
import { call } from '../calls.ts';
import { ask } from './answers.ts';
import { isLow } from './meter.ts';

/** The service answers no more at once. */
const MOST_AT_ONCE = 100;
const MOST_KEPT = 2_000;
const GATHERED_MS = 50;

const known = new Map<string, Signal<string | null>>();
let wanted = new Set<string>();

/** Null until it is known, and where no chain knows one. */
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
  for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
    const { shown } = ask(call('/api/names', { query: { ids: ids.slice(at, at + MOST_AT_ONCE).join(',') } }));
    const stop = effect(() => {
      if (!shown.value) return;
      for (const { id, name } of shown.value.data.results) {
        const of = known.get(id);
        if (of) of.value = name;
      }
      queueMicrotask(() => stop());
    });
  }
}
