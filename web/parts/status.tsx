/** The status of a conversion, a price or an identity, in its colour. */
import { Value } from './value.tsx';

interface StatusProps {
  readonly is: string;
  /** JSON pointer of the status. */
  readonly at?: string;
}

export function Status({ is, at = 'status' }: StatusProps) {
  return (
    <span class={`status ${is}`}>
      <Value at={at} as="word" />
    </span>
  );
}
