/** The configured marks as shown in answers. */
import type { Mark } from '../../schemas/config.ts';
import type { ApiContext } from '../api-context.ts';
import { isoTime } from '../http/values.ts';

const answerOf = ({ from, to, ...mark }: Mark) => ({ from: isoTime(from), to: isoTime(to), ...mark });

export const allMarks = ({ config }: ApiContext) => config.marks.map(answerOf);

/** Returns the marks of a chain, or of all chains, that overlap a span of time. Seconds since the epoch; `until` is excluded. */
export function marksIn({ config }: ApiContext, from: number, until: number, chain?: string) {
  return config.marks
    .filter((mark) => mark.from < until && mark.to > from && (chain === undefined || mark.chains.includes(chain)))
    .map(answerOf);
}

/** Returns the marks as a header, for answers that are lists: JSON in ASCII. */
export function marksHeader(marks: ReturnType<typeof marksIn>): { readonly Marks?: string } {
  if (marks.length === 0) return {};
  const text = JSON.stringify(marks);
  return { Marks: text.replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`) };
}
