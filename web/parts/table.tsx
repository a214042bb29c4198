/** A list of an answer as a table, and as cards where there is no room: one row for each element. */
import type { ComponentChildren } from 'preact';
import { At, useLeaf, usePointer } from './scope.tsx';

export interface Column<Row> {
  readonly head: string;
  readonly isNumber?: boolean;
  /** Values in it stand relative to the element. */
  readonly cell: (row: Row, index: number) => ComponentChildren;
}

interface TableProps<Row> {
  /** JSON pointer of the list. */
  readonly at: string;
  readonly rows: readonly Row[];
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Said where there are none. */
  readonly empty: string;
}

export function Table<Row>({ at, rows, caption, columns, empty }: TableProps<Row>) {
  const pointer = usePointer(at);
  const leaf = useLeaf(pointer);
  if (leaf.kind !== 'nested') throw new TypeError(`${pointer} is no list`);
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll">
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, isNumber }) => (
              <th key={head} scope="col" class={isNumber ? 'right' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <At key={index} at={`${pointer}/${index}`}>
              <tr data-item={`${pointer}/${index}`}>
                {columns.map(({ head, isNumber, cell }) => (
                  <td key={head} data-label={head} class={isNumber ? 'right' : undefined}>
                    {cell(row, index)}
                  </td>
                ))}
              </tr>
            </At>
          ))}
        </tbody>
      </table>
    </div>
  );
}
