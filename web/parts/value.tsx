/**
 * A value of an answer, with the attributes by which a reader can compare the page with the API. Views pass a pointer into the answer, so
 * they cannot show any other number.
 */
import type { ComponentChildren, JSX } from 'preact';
import { timeZone } from '../state/settings.ts';
import { inertText } from '../text/inert.ts';
import { type NumberKind, shownNumber } from '../text/numbers.ts';
import { millisecondsOf, shownTime } from '../text/times.ts';
import { useLeaf, usePointer } from './scope.tsx';
import { Id, Text } from './text.tsx';

export interface ValueProps {
  /** JSON pointer relative to the scope, or from the root when it begins with a slash. */
  readonly at: string;
  readonly as?: NumberKind | 'time' | 'id' | 'name' | 'word' | 'text';
  readonly unit?: string;
  readonly href?: string | null | undefined;
  /** Why it may be null. */
  readonly why?: string | undefined;
  /** Shown instead of the value, which stays in the title. */
  readonly children?: ComponentChildren;
}

export function Value({ at, as = 'plain', unit, href, why = 'not known', children }: ValueProps) {
  const pointer = usePointer(at);
  const leaf = useLeaf(pointer);
  switch (leaf.kind) {
    case 'absent':
      return null;
    case 'nested':
      throw new TypeError(`${pointer} is not a single value`);
    case 'null':
      return (
        <span data-field={pointer} data-null="true" class="none" title={why}>
          –<span class="hidden"> {why}</span>
        </span>
      );
    case 'boolean':
      return (
        <span data-field={pointer} data-value={String(leaf.value)}>
          {children ?? (leaf.value ? 'yes' : 'no')}
        </span>
      );
    case 'number':
      if (as === 'time') return <Time pointer={pointer} text={leaf.text} />;
      return linked(
        href,
        <data class="number" value={leaf.text} data-field={pointer} data-unit={unit} title={leaf.text}>
          {children ?? shownNumber(leaf.text, isNumberKind(as) ? as : 'plain')}
          {unit !== undefined && <span class="unit"> {unit}</span>}
        </data>,
      );
    case 'string':
      if (as === 'time') return <Time pointer={pointer} text={leaf.text} />;
      return linked(
        href,
        <span
          data-field={pointer}
          data-value={leaf.text}
          title={as === 'word' ? undefined : inertText(children === undefined ? leaf.text.slice(0, 300) : leaf.text)}
        >
          {children ?? shownText(leaf.text, as)}
        </span>,
      );
  }
}

const NUMBER_KINDS: readonly string[] = ['amount', 'usd', 'price', 'plain', 'integer'] satisfies NumberKind[];
export const isNumberKind = (kind: string | undefined): kind is NumberKind =>
  kind !== undefined && NUMBER_KINDS.includes(kind);

function shownText(text: string, as: string) {
  if (as === 'id') return <Id id={text} />;
  if (as === 'word') return text.replaceAll('_', ' ');
  return <Text text={text} isName={as === 'name'} keepsLines={as === 'text'} />;
}

function linked(href: string | null | undefined, shown: JSX.Element): JSX.Element {
  return href ? <a href={href}>{shown}</a> : shown;
}

function Time({ pointer, text }: { readonly pointer: string; readonly text: string }) {
  const milliseconds = millisecondsOf(text);
  const other = timeZone.value === 'utc' ? 'local' : 'utc';
  return (
    <time
      class="number"
      dateTime={new Date(milliseconds).toISOString()}
      data-field={pointer}
      title={shownTime(milliseconds, other)}
    >
      {shownTime(milliseconds, timeZone.value)}
    </time>
  );
}
