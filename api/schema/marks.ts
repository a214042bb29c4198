/** Spans of time that charts mark, because something happened that the numbers alone do not show. */
import { array, isoTime, nullableString, object, string } from './json-schema.ts';

export const markList = array(
  object({
    from: isoTime,
    to: isoTime,
    chains: array(string, 'Chains whose numbers it affects'),
    text: string,
    link: { ...nullableString, description: 'Where to read more' },
  }),
  'Oldest first',
);

export const marksMember = {
  marks: { ...markList, description: 'Known events in the time span of the answer, oldest first' },
} as const;
