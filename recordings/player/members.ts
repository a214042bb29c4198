/** The daemon's JSON objects as pairs of key and value text, and arrays as texts; printing them gives the same bytes again. */
import { daemonString, elementTexts, rawMembers } from '../../domain/json/raw-json.ts';

export type MemberPair = readonly [key: string, value: string];

export const readPairs = (text: string): MemberPair[] =>
  rawMembers(text, 0).map(({ key, start, end }) => [key, text.slice(start, end)] as const);

export const printPairs = (pairs: readonly MemberPair[]): string =>
  `{${pairs.map(([key, value]) => `${daemonString(key)}:${value}`).join(',')}}`;

/** Prints an array with `print` of each element. */
export const mapElements = (array: string, print: (element: string, index: number) => string | undefined): string =>
  `[${elementTexts(array).map(print).join(',')}]`;

/** Replaces the values of existing members; null removes a member. */
export function replaceMembers(text: string, changes: Readonly<Record<string, string | null>>): string {
  const pairs: MemberPair[] = [];
  for (const [key, value] of readPairs(text)) {
    const change = changes[key];
    if (change === undefined) pairs.push([key, value]);
    else if (change !== null) pairs.push([key, change]);
  }
  return printPairs(pairs);
}
