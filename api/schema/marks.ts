/** Spans of time that charts mark: something happened that the numbers alone do not tell. */
import { array, isoTime, nullableString, object, string } from './json-schema.ts';

export const markList = array(
  object({
    from: isoTime,
    to: isoTime,
    chains: array(string, 'Those whose numbers it concerns'),
    text: string,
    link: { ...nullableString, description: 'Where to read more' },
  }),
  'Oldest first',
);

export const marksMember = {
  marks: { ...markList, description: 'What is known to have happened in the span of the answer, oldest first' },
} as const;
