/** Shown when the answers arrived but do not contain what the address names. */
import { useEffect } from 'preact/hooks';
import { isMissing } from '../state/missing.ts';
import { Text } from './text.tsx';

export function NotThere({ what }: { readonly what: string }) {
  useEffect(() => {
    isMissing.value = true;
    return () => {
      isMissing.value = false;
    };
  }, []);
  return (
    <div role="alert" class="alert" data-code="not_found">
      <strong>Not there</strong>{' '}
      <span>
        <Text text={what} />
      </span>
    </div>
  );
}
