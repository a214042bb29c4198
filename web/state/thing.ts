/** What the view's thing is called, where its address has only an i-address: for the heading and the title. */
import { effect, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { titleOf } from '../addresses.ts';
import { inertText } from '../text/inert.ts';
import { place } from './place.ts';

type Names = Readonly<Record<string, string>>;

/** Names by part of the address; empty until an answer has them. */
export const names = signal<Names>({});

/** Names that an answer has for parts of the address; null or undefined where it has none, or none yet. */
export function useNames(given: Readonly<Record<string, string | null | undefined>>): void {
  const known = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const key = JSON.stringify(known);
  useLayoutEffect(() => {
    names.value = Object.fromEntries(JSON.parse(key) as typeof known);
  }, [key]);
  useLayoutEffect(
    () => () => {
      names.value = {};
    },
    [],
  );
}

effect(() => {
  if (place.value && Object.keys(names.value).length > 0) document.title = inertText(titleOf(place.value, names.value));
});
