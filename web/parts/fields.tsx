/** A list of named values. */
import type { ComponentChildren } from 'preact';
import { Value, type ValueProps } from './value.tsx';

export function Fields({ children }: { readonly children: ComponentChildren }) {
  return <dl class="fields">{children}</dl>;
}

type FieldProps = { readonly label: string; readonly help?: string } & (
  | ValueProps
  | { readonly at?: never; readonly children: ComponentChildren }
);

/** Shows the value at a JSON pointer, like `Value`, or the children. */
export function Field({ label, help, ...shown }: FieldProps) {
  return (
    <div>
      <dt title={help}>{label}</dt>
      <dd>{shown.at === undefined ? shown.children : <Value {...shown} />}</dd>
    </div>
  );
}
