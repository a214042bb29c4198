/** A pair of a basket: prices, volume and trades. */
import { useMemo, useState } from 'preact/hooks';
import {
  type Answer,
  At,
  ask,
  Chart,
  Choices,
  call,
  conversionHref,
  Field,
  Fields,
  hrefOf,
  Panel,
  shownNumber,
  Table,
  Text,
  useNames,
  Value,
  type ViewProps,
} from '../kit.ts';
import { TRADED_COLUMNS } from './traded-columns.tsx';

type Pairs = Answer<'/api/market/pairs'>;
type Pair = NonNullable<Pairs['shown']['value']>['data'][number];
type CandleSeries = Answer<'/api/market/pairs/{basket}/{base}/{quote}/candles'>;
type Series = NonNullable<CandleSeries['shown']['value']>['data'];

export function View({ parts, query, answers: [candles, pairs] }: ViewProps<'pair'>) {
  const index = (pairs.shown.value?.data ?? []).findIndex(
    ({ basketId, baseId, quoteId }) => basketId === parts.basket && baseId === parts.base && quoteId === parts.quote,
  );
  const shown = candles.shown.value?.data;
  useNames({ base: shown?.base, quote: shown?.quote });
  return (
    <>
      <Panel title="The last 24 hours" answer={pairs} frame="medium">
        {(all) => {
          const pair = all[index];
          if (pair) return <Day index={index} pair={pair} />;
          return <p class="empty">The market lists this pair the other way round, or its basket does not trade.</p>;
        }}
      </Panel>
      <Choices label="Step" parameter="step" options={WORDS} standard="1h" />
      <Candles answer={candles} step={STEPS[query.get('step') ?? '1h'] ?? 3600} />
      {shown && <Trades pair={shown} />}
    </>
  );
}

const WORDS = { '5m': '5 minutes', '1h': '1 hour', '4h': '4 hours', '1d': '1 day' } as const;
const STEPS: Readonly<Record<string, number>> = { '5m': 300, '1h': 3600, '4h': 14_400, '1d': 86_400 };

interface CandlesProps {
  readonly answer: CandleSeries;
  readonly step: number;
}

function Candles({ answer, step }: CandlesProps) {
  return (
    <Panel title="Candles" answer={answer} frame="tall">
      {(series) => (
        <Chart
          at="/data"
          points={series.data}
          name="Price by step"
          caption={sentence(series)}
          time={({ time }) => time}
          step={step}
          candles={{
            open: ({ open }) => open,
            high: ({ high }) => high,
            low: ({ low }) => low,
            close: ({ close }) => close,
          }}
          series={[
            {
              name: 'Volume',
              kind: 'bars',
              scale: 'foot',
              unit: 'USD',
              as: 'usd',
              value: ({ volumeUsd }) => volumeUsd,
            },
          ]}
          empty="The basket had no new state in these steps."
          columns={[
            { head: 'Step', at: 'time', as: 'time' },
            { head: 'Open', at: 'open', as: 'price' },
            { head: 'High', at: 'high', as: 'price' },
            { head: 'Low', at: 'low', as: 'price' },
            { head: 'Close', at: 'close', as: 'price' },
            { head: 'Volume of the base', at: 'volumeBase', as: 'amount' },
            { head: 'Volume of the quote', at: 'volumeQuote', as: 'amount' },
            { head: 'Volume', at: 'volumeUsd', as: 'usd', unit: 'USD' },
            { head: 'Trades', at: 'trades', as: 'integer' },
          ]}
        />
      )}
    </Panel>
  );
}

function sentence({ base, baseId, quote, quoteId, data }: Series): string {
  const last = data.at(-1);
  if (!last) return '';
  const [least, most] = [
    data.reduce((low, candle) => (Number(candle.low) < Number(low) ? candle.low : low), last.low),
    data.reduce((high, candle) => (Number(candle.high) > Number(high) ? candle.high : high), last.high),
  ];
  const price = (digits: string) => shownNumber(digits, 'price');
  return `One ${base ?? baseId} is ${price(last.close)} ${quote ?? quoteId}; it was between ${price(least)} and ${price(most)}.`;
}

function Day({ index, pair }: { readonly index: number; readonly pair: Pair }) {
  return (
    <At at={`/${index}`}>
      <p class="figure">
        <Value at="price" as="price" /> <Value at="quote" as="name" why="unknown here" /> for one{' '}
        <Value at="base" as="name" why="unknown here" />
      </p>
      <Fields>
        <Field label="Open" at="open" as="price" />
        <Field label="High" at="high" as="price" />
        <Field label="Low" at="low" as="price" />
        <Field label="Close" at="close" as="price" />
        <Field label="Change" at="change24h" as="usd" unit="%" why="no price a day before" />
        <Field label="Volume of the base">
          <Value at="volumeBase" as="amount" /> <Value at="base" as="name" why="unknown here" />
        </Field>
        <Field label="Volume of the quote">
          <Value at="volumeQuote" as="amount" /> <Value at="quote" as="name" why="unknown here" />
        </Field>
        <Field label="Volume" at="volumeUsd" as="usd" unit="USD" />
        <Field label="Liquidity" help="Both sides in the basket">
          <Value at="liquidity" as="usd" unit="USD" why="a side has no price" />
        </Field>
        <Field label="Basket" at="basket" as="name" href={hrefOf('basket', { basket: pair.basketId })} />
        <Field label="Chain" at="chain" as="text" />
      </Fields>
    </At>
  );
}

/** Completed conversions in one direction. */
function Trades({ pair: { chain, basketId, base, baseId, quote, quoteId } }: { readonly pair: Series }) {
  const [side, setSide] = useState<'sold' | 'bought'>('sold');
  const [from, to] = side === 'sold' ? [baseId, quoteId] : [quoteId, baseId];
  const [baseName, quoteName] = [<Text text={base ?? baseId} isName />, <Text text={quote ?? quoteId} isName />];
  const query = { chain, from, to, basket: basketId, status: 'completed', pageSize: '10' };
  const answer = useMemo(() => ask(call('/api/conversions/', { query })), [chain, basketId, from, to]);
  return (
    <>
      <div class="choices">
        {(['sold', 'bought'] as const).map((one) => (
          <button key={one} type="button" aria-pressed={one === side} onClick={() => setSide(one)}>
            {one === 'sold' ? baseName : quoteName} for {one === 'sold' ? quoteName : baseName}
          </button>
        ))}
      </div>
      <Panel title="Newest trades" answer={answer} isList frame="medium">
        {({ results }) => (
          <>
            <Table
              at="/results"
              rows={results}
              caption="The newest trades"
              empty="There are no trades in this direction."
              columns={[
                { head: 'Time', at: 'time', as: 'time' },
                ...TRADED_COLUMNS,
                { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'no price at its height' },
                { head: 'Request', at: 'txid', as: 'id', href: conversionHref },
              ]}
            />
            <p>
              <a href={hrefOf('conversions', {}, { chain, from, to, basket: basketId })}>All of them</a>
            </p>
          </>
        )}
      </Panel>
    </>
  );
}
