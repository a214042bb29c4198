/** Conversions, filtered by any parameter of the API. */
import {
  type Answer,
  Chart,
  conversionHref,
  Field,
  Fields,
  hrefOf,
  PagedTable,
  Panel,
  Status,
  shownNumber,
  type ViewProps,
} from '../kit.ts';
import { ConversionFilters } from './conversion-filters.tsx';
import { TRADED_COLUMNS } from './traded-columns.tsx';

export function View({ query, answers: [list, summary, filters] }: ViewProps<'conversions'>) {
  const trouble = list.trouble.value;
  const isRefused = trouble?.status === 400; // the list shows the refusal once
  return (
    <>
      <ConversionFilters query={query} answer={filters} trouble={trouble} />
      {!isRefused && <Sums answer={summary} />}
      <Panel title="Newest first" answer={list} isList frame="tall">
        {(list) => (
          <PagedTable
            list={list}
            caption="Conversions, the newest first"
            empty="No conversion fits these filters. Clear shows all of them."
            columns={[
              { head: 'Time', at: 'time', as: 'time' },
              {
                head: 'Block',
                at: 'height',
                as: 'integer',
                href: ({ chain, height }) => hrefOf('block', { chain, block: height }),
              },
              {
                head: 'Status',
                cell: ({ status }) => <Status is={status} />,
              },
              { head: 'Type', at: 'type', as: 'word' },
              ...TRADED_COLUMNS,
              { head: 'Fee', at: 'fee', as: 'amount' },
              { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'no price at its height, or no payout' },
              { head: 'Rule', at: 'rule', as: 'word' },
              { head: 'Request', at: 'txid', as: 'id', href: conversionHref },
            ]}
          />
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
          <Field label="Conversions" at="count" as="integer" />
          <Field label="With a value" help="Completed ones that have a USD value" at="valued" as="integer" />
          <Field
            label="Volume"
            help="Trades alone, on the chain that executed them: no preconversions, mints and burns"
            at="volume"
            as="usd"
            unit="USD"
          />
          <Field label="Fees" at="fees" as="usd" unit="USD" />
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
            { head: 'Day', at: 'date' },
            { head: 'Conversions', at: 'count', as: 'integer' },
            { head: 'With a value', at: 'valued', as: 'integer' },
            { head: 'Volume', at: 'volume', as: 'usd', unit: 'USD' },
            { head: 'Fees', at: 'fees', as: 'usd', unit: 'USD' },
          ]}
        />
      )}
    </Panel>
  );
}
