/** Conversions as table rows, each with a link to its view. */
import { type AnswerOf, conversionHref, Given, PagedTable, Paid, Status } from '../kit.ts';

interface ConversionTableProps {
  readonly list: AnswerOf<'/api/address/{addr}/conversions'>;
  /** Chain of the view. */
  readonly chain: string;
  readonly empty: string;
}

export function ConversionTable({ list, chain, empty }: ConversionTableProps) {
  return (
    <PagedTable
      list={list}
      caption="Conversions, newest first"
      empty={empty}
      columns={[
        { head: 'Time', at: 'time', as: 'time' },
        { head: 'Conversion', at: 'txid', as: 'id', href: conversionHref },
        {
          head: 'Status',
          cell: ({ status }) => <Status is={status} />,
        },
        { head: 'Kind', at: 'type', as: 'word' },
        { head: 'Given', isNumber: true, cell: () => <Given chain={chain} /> },
        { head: 'Paid', isNumber: true, cell: () => <Paid chain={chain} /> },
        { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'no price at its height' },
      ]}
    />
  );
}
