/** Resolves a text to a view: the thing that it names, or names that begin with it. */
import { effect } from '@preact/signals';
import { hrefOf } from '../addresses.ts';
import { call } from '../calls.ts';
import { type Found, foundHref } from '../found-href.ts';
import { ADDRESS } from '../text/address.ts';
import { type Answer, ask } from './answers.ts';
import { place } from './place.ts';
import { chainNames } from './service.ts';

export interface Suggestion {
  readonly label: string;
  /** Type and chain of the result. */
  readonly detail: string;
  readonly href: string;
}

const HEIGHT = /^\d{1,9}$/;
const HASH = /^[0-9a-f]{64}$/i;
/** Shorter texts match too many names to be useful. */
const LEAST_LETTERS = 3;

/** Chains with the chain of the current view first. */
function chainsHere(): readonly string[] {
  const here = place.value?.parts.chain;
  return here === undefined ? chainNames : [here, ...chainNames.filter((name) => name !== here)];
}

export function blocksAt(text: string): Suggestion[] {
  if (!HEIGHT.test(text)) return [];
  return chainsHere().map((chain) => ({
    label: `Block ${text}`,
    detail: chain,
    href: hrefOf('block', { chain, block: text }),
  }));
}

/** Whether a text may be the beginning of a name; other texts are not looked up and cost no credits. */
export const mayBeName = (text: string) =>
  text.length >= LEAST_LETTERS && ![HEIGHT, HASH, ADDRESS].some((form) => form.test(text));

export const askNames = (text: string) => ask(call('/api/search/suggest', { query: { q: text } }));

/** Suggestions of an answer that still match the text. */
export function named(answer: Answer<'/api/search/suggest'>, text: string): Suggestion[] {
  const begin = text.toLowerCase().replace(/@$/, ''); // labels have no @
  const fitting = (answer.shown.value?.data.results ?? []).filter(({ label }) => label.toLowerCase().startsWith(begin));
  return fitting.map((found) => ({
    label: found.label,
    detail: `${found.type} · ${found.chain}`,
    href: foundHref(found),
  }));
}

/** The address of the thing that the text names, or of a search for the text. */
export async function destinationOf(text: string): Promise<string> {
  const [block] = blocksAt(text);
  if (block) return block.href;
  const found = await results(ask(call('/api/search/', { query: { q: text } })));
  const chains = chainsHere();
  const [best] = found.toSorted((a, b) => chains.indexOf(a.chain) - chains.indexOf(b.chain));
  return best ? foundHref(best) : hrefOf('search', {}, { q: text });
}

function results({ shown, trouble, isBusy }: Answer<'/api/search/'>): Promise<readonly Found[]> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (isBusy.value) return;
      resolve(trouble.value ? [] : (shown.value?.data.results ?? []));
      queueMicrotask(() => stop());
    });
  });
}
