/** Conversions by any filter of the API. */
import {
  type Answer,
  Chart,
  conversionHref,
  Field,
  Fields,
  hrefOf,
  Pager,
  Panel,
  shownNumber,
  Table,
  Value,
  type ViewProps,
} from '../kit.ts';
import { ConversionFilters } from './conversion-filters.tsx';

export function View({ query, answers: [list, summary, filters] }: ViewProps<'conversions'>) {
  const trouble = list.trouble.value;
  const isRefused = trouble?.status === 400; // shown once, by the list
  return (
    <>
      <ConversionFilters query={query} answer={filters} trouble={trouble} />
      {!isRefused && <Sums answer={summary} />}
      <Panel title="Newest first" answer={list} isList frame="tall">
        {({ results, page, totalPages }) => (
          <>
            <Table
              at="/results"
              rows={results}
              caption="Conversions, the newest first"
              empty="No conversion fits these filters. Clear shows all of them."
              columns={[
                { head: 'Time', cell: () => <Value at="time" as="time" /> },
                {
                  head: 'Block',
                  isNumber: true,
                  cell: ({ chain, height }) => (
                    <Value at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
                  ),
                },
                {
                  head: 'Status',
                  cell: ({ status }) => (
                    <span class={`status ${status}`}>
                      <Value at="status" as="word" />
                    </span>
                  ),
                },
                { head: 'Type', cell: () => <Value at="type" as="word" /> },
                {
                  head: 'Given',
                  isNumber: true,
                  cell: () => (
                    <>
                      <Value at="amountIn" as="amount" /> <Value at="fromCurrencyName" as="name" why="unknown here" />
                    </>
                  ),
                },
                {
                  head: 'Received',
                  isNumber: true,
                  cell: () => (
                    <>
                      <Value at="amountOut" as="amount" why="nothing was paid out" />{' '}
                      <Value at="toCurrencyName" as="name" why="unknown here" />
                    </>
                  ),
                },
                {
                  head: 'Price',
                  isNumber: true,
                  cell: () => <Value at="price" as="price" why="nothing was paid out" />,
                },
                { head: 'Fee', isNumber: true, cell: () => <Value at="fee" as="amount" /> },
                {
                  head: 'Worth',
                  isNumber: true,
                  cell: () => <Value at="usdValue" as="usd" unit="USD" why="no price at its height, or no payout" />,
                },
                { head: 'Rule', cell: () => <Value at="rule" as="word" /> },
                {
                  head: 'Request',
                  cell: (conversion) => <Value at="txid" as="id" href={conversionHref(conversion)} />,
                },
              ]}
            />
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Panel>
      {!isRefused && <Days answer={summary} />}
    </>
  );
}

const DAY = 86_400;

interface SumsProps {
  readonly answer: Answer<'/api/conversions/summary'>;
}

function Sums({ answer }: SumsProps) {
  return (
    <Panel title="In all" answer={answer} frame="short">
      {() => (
        <Fields>
          <Field label="Conversions">
            <Value at="count" as="integer" />
          </Field>
          <Field label="With a value" help="Completed ones that have a USD value">
            <Value at="valued" as="integer" />
          </Field>
          <Field label="Volume">
            <Value at="volume" as="usd" unit="USD" />
          </Field>
          <Field label="Fees">
            <Value at="fees" as="usd" unit="USD" />
          </Field>
        </Fields>
      )}
    </Panel>
  );
}

function Days({ answer }: SumsProps) {
  return (
    <Panel title="By day" answer={answer} frame="tall">
      {({ count, volume, days }) => (
        <Chart
          at="/days"
          points={days}
          name="Conversions by day"
          caption={`${shownNumber(volume, 'usd')} USD in ${shownNumber(count, 'integer')} conversions.`}
          time={({ date }) => date}
          step={DAY}
          series={[{ name: 'Volume', kind: 'bars', unit: 'USD', as: 'usd', value: (day) => day.volume }]}
          empty="None of them was executed yet."
          columns={[
            { head: 'Day', cell: () => <Value at="date" /> },
            { head: 'Conversions', isNumber: true, cell: () => <Value at="count" as="integer" /> },
            { head: 'With a value', isNumber: true, cell: () => <Value at="valued" as="integer" /> },
            { head: 'Volume', isNumber: true, cell: () => <Value at="volume" as="usd" unit="USD" /> },
            { head: 'Fees', isNumber: true, cell: () => <Value at="fees" as="usd" unit="USD" /> },
          ]}
        />
      )}
    </Panel>
  );
}
