/** Shows a fraction of 1. */
import { shownNumber } from '../text/numbers.ts';
import { useLeaf, usePointer } from './scope.tsx';
import { Value } from './value.tsx';

interface ShareProps {
  readonly at: string;
  readonly why?: string;
}

/** In percent, followed by the fraction as the answer has it. */
export function Share({ at, why }: ShareProps) {
  const leaf = useLeaf(usePointer(at));
  if (leaf.kind !== 'number') return <Value at={at} why={why} />;
  return (
    <span class="number">
      <span data-derived="percent">{percentOf(Number(leaf.text))}</span>{' '}
      <span class="muted">
        = <Value at={at} as="price" />
      </span>
    </span>
  );
}

export const percentOf = (fraction: number) => `${shownNumber((fraction * 100).toFixed(6), 'usd')} %`;
