/** Conversions as rows, each leading to its view. */
import { type AnswerOf, Currency, conversionHref, Table, Value } from '../kit.ts';

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
        { head: 'Time', cell: () => <Value at="time" as="time" /> },
        { head: 'Conversion', cell: (row) => <Value at="txid" as="id" href={conversionHref(row)} /> },
        {
          head: 'Status',
          cell: ({ status }) => (
            <span class={`status ${status}`}>
              <Value at="status" as="word" />
            </span>
          ),
        },
        { head: 'Kind', cell: () => <Value at="type" as="word" /> },
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
        {
          head: 'Worth',
          isNumber: true,
          cell: () => <Value at="usdValue" as="usd" unit="USD" why="no price at its height" />,
        },
      ]}
    />
  );
}
