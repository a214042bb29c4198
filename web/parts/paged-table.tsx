/** A page of a list as a table, with links to the other pages. */
import { Pager, type PagerProps } from './pager.tsx';
import { Table, type TableProps } from './table.tsx';

interface PagedTableProps<Row> extends Omit<TableProps<Row>, 'at' | 'rows'> {
  /** The answer. */
  readonly list: PagerProps & { readonly results: readonly Row[] };
}

export function PagedTable<Row>({ list, ...table }: PagedTableProps<Row>) {
  const { results, page, pageSize, totalPages } = list;
  return (
    <>
      <Table at="/results" rows={results} {...table} />
      <Pager page={page} pageSize={pageSize} totalPages={totalPages} />
    </>
  );
}
