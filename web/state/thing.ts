/** The name of the thing that a view shows, for the heading and title where the address has only an i-address. */
import { effect, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { titleOf } from '../addresses.ts';
import { place } from './place.ts';

type Names = Readonly<Record<string, string>>;

/** Names by part of the address; empty until an answer has arrived. */
export const names = signal<Names>({});

/** Sets the names for parts of the address; a value is null or undefined where the answer has no name or has not arrived. */
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
  if (place.value && Object.keys(names.value).length > 0) document.title = titleOf(place.value, names.value);
});
