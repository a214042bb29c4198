/** A table of values that the page computes; `Table` shows the lists of an answer. */
import type { ComponentChildren } from 'preact';

interface PlainColumn<Row> {
  /** Label of a cell where rows are shown as cards. */
  readonly label: string;
  /** The label by default. */
  readonly head?: ComponentChildren;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

interface PlainTableProps<Row> {
  readonly caption: string;
  readonly isCaptionHidden?: boolean;
  readonly class?: string;
  readonly rows: readonly Row[];
  readonly columns: readonly PlainColumn<Row>[];
}

export function PlainTable<Row>(props: PlainTableProps<Row>) {
  const { caption, isCaptionHidden = false, rows, columns } = props;
  return (
    <table class={props.class}>
      <caption class={isCaptionHidden ? 'hidden' : undefined}>{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label, head = label, isNumber }) => (
            <th key={label} scope="col" class={isNumber ? 'right' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {columns.map(({ label, isNumber, cell }) => (
              <td key={label} data-label={label} class={isNumber ? 'right number' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
