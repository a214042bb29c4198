/** Shows any part of an answer member by member, such as decoded objects of the chain of any shape. */
import { useState } from 'preact/hooks';
import { At, token, useLeaf, usePointer } from './scope.tsx';
import { Text } from './text.tsx';
import { Value } from './value.tsx';

/** Members shown at first. */
const FIRST = 50;
/** Deeper levels open on demand. */
const OPEN_DEPTH = 2;

export function JsonTree({ at = '', depth = 0 }: { readonly at?: string; readonly depth?: number }) {
  const pointer = usePointer(at);
  const leaf = useLeaf(pointer);
  const [most, setMost] = useState(FIRST);
  if (leaf.kind !== 'nested') return <Value at={pointer} />;
  const isList = Array.isArray(leaf.value);
  const keys = Object.keys(leaf.value);
  if (keys.length === 0) return <span data-field={pointer}>{isList ? 'empty list' : 'empty'}</span>;
  const members = (
    <dl class="tree">
      {keys.slice(0, most).map((key) => (
        <div key={key}>
          <dt data-derived="name">{isList ? `#${Number(key) + 1}` : <Text text={key} />}</dt>
          <dd>
            <At at={`${pointer}/${token(key)}`}>
              <JsonTree depth={depth + 1} />
            </At>
          </dd>
        </div>
      ))}
      {keys.length > most && (
        <button type="button" class="more" onClick={() => setMost(most + FIRST)}>
          Show more
        </button>
      )}
    </dl>
  );
  if (depth < OPEN_DEPTH) return members;
  return (
    <details>
      <summary>{isList ? 'list' : 'members'}</summary>
      {members}
    </details>
  );
}
