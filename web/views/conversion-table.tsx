/** Conversions as table rows, each with a link to its view. */
import { type AnswerOf, Currency, conversionHref, Status, Table, Value } from '../kit.ts';

type Row = AnswerOf<'/api/address/{addr}/conversions'>['results'][number];

interface ConversionTableProps {
  readonly rows: readonly Row[];
  /** Chain of the view. */
  readonly chain: string;
  readonly empty: string;
}

export function ConversionTable({ rows, chain, empty }: ConversionTableProps) {
  return (
    <Table
      at="/results"
      rows={rows}
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
        {
          head: 'Given',
          isNumber: true,
          cell: () => (
            <>
              <Value at="amountIn" as="amount" />{' '}
              <Currency chain={chain} name="fromCurrencyName" id="fromCurrencyId" why="not known here" />
            </>
          ),
        },
        {
          head: 'Paid',
          isNumber: true,
          cell: () => (
            <>
              <Value at="amountOut" as="amount" why="nothing was paid out" />{' '}
              <Currency chain={chain} name="toCurrencyName" id="toCurrencyId" />
            </>
          ),
        },
        { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'no price at its height' },
      ]}
    />
  );
}
