/** A list of an answer as a table, or as cards where there is no room; one row for each element. */
import type { ComponentChildren } from 'preact';
import { At, useLeaf, usePointer } from './scope.tsx';
import { isNumberKind, Value, type ValueProps } from './value.tsx';

/** One value of each element, or whatever `cell` renders; pointers are relative to the element. */
export type Column<Row> = { readonly head: string } & (ValueColumn<Row> | CellColumn<Row>);

interface ValueColumn<Row> extends Omit<ValueProps, 'href' | 'children'> {
  readonly href?: (row: Row) => string | null | undefined;
  readonly cell?: never;
}

interface CellColumn<Row> {
  readonly isNumber?: boolean;
  readonly cell: (row: Row, index: number) => ComponentChildren;
}

export interface TableProps<Row> {
  /** JSON pointer of the list. */
  readonly at: string;
  readonly rows: readonly Row[];
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Text shown when there are no rows. */
  readonly empty: string;
}

export function Table<Row>({ at, rows, caption, columns, empty }: TableProps<Row>) {
  const pointer = usePointer(at);
  const leaf = useLeaf(pointer);
  if (leaf.kind !== 'nested') throw new TypeError(`${pointer} is not a list`);
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll">
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={sideOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <At key={index} at={`${pointer}/${index}`}>
              <tr data-item={`${pointer}/${index}`}>
                {columns.map((column) => (
                  <td key={column.head} data-label={column.head} class={sideOf(column)}>
                    {column.cell ? column.cell(row, index) : <ValueCell column={column} row={row} />}
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

function ValueCell<Row>({ column, row }: { readonly column: ValueColumn<Row>; readonly row: Row }) {
  const { href, ...shown } = column;
  return <Value {...shown} href={href?.(row)} />;
}

function sideOf<Row>(column: Column<Row>): string | undefined {
  const isNumber = column.cell ? column.isNumber : isNumberKind(column.as);
  return isNumber ? 'right' : undefined;
}
