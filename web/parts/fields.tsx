/** Named values, one below the other. */
import type { ComponentChildren } from 'preact';

export function Fields({ children }: { readonly children: ComponentChildren }) {
  return <dl class="fields">{children}</dl>;
}

export function Field({
  label,
  help,
  children,
}: {
  readonly label: string;
  readonly help?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div>
      <dt title={help}>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
