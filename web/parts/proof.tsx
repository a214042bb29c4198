/** Shows whether work or stake validated a block, as a word and a mark. */
import { Value } from './value.tsx';

export function Proof({ type, at = 'validationType' }: { readonly type: string; readonly at?: string }) {
  return (
    <span class={`proof ${type}`}>
      <Value at={at} as="word" />
    </span>
  );
}
