/** The changes of an identity's update, field by field. */
import { At, JsonTree, Value } from '../kit.ts';

/** Start depth of the trees: the values of a content map are open. */
const FOLDED = -3;

interface DiffProps {
  /** JSON pointer of the changes, from the root. */
  readonly at: string;
  readonly changes: readonly { readonly field: string }[];
  /** Text shown when there are no changes. */
  readonly none: string;
}

export function Diff({ at, changes, none }: DiffProps) {
  if (changes.length === 0) return <p class="muted">{none}</p>;
  return (
    <dl class="diff">
      {changes.map(({ field }, index) => (
        <At key={field} at={`${at}/${index}`}>
          <div data-item={`${at}/${index}`}>
            <dt>
              <Value at="field" />
            </dt>
            <dd class="old">
              <JsonTree at="old" depth={FOLDED} />
            </dd>
            <dd class="new">
              <JsonTree at="new" depth={FOLDED} />
            </dd>
          </div>
        </At>
      ))}
    </dl>
  );
}
