/** A pair of a basket: prices, volume, and what was traded. */
import { useMemo } from 'preact/hooks';
import { type Answer, At, ask, call, Field, Fields, hrefOf, Panel, Table, Value, type ViewProps } from '../kit.ts';

type Pairs = Answer<'/api/market/pairs'>;
type Pair = NonNullable<Pairs['shown']['value']>['data'][number];

export function View({ parts, answers: [pairs] }: ViewProps<'pair'>) {
  const all = pairs.shown.value?.data ?? [];
  const isMeant = ({ basketId, baseId, quoteId }: Pair, { base, quote }: { base: string; quote: string }) =>
    basketId === parts.basket && baseId === base && quoteId === quote;
  const index = all.findIndex((pair) => isMeant(pair, parts));
  const reverse = all.find((pair) => isMeant(pair, { base: parts.quote, quote: parts.base }));
  const pair = all[index];
  return (
    <>
      <Panel title="The last 24 hours" answer={pairs} frame="medium">
        {() => (pair ? <Day index={index} pair={pair} /> : <Missing reverse={reverse} />)}
      </Panel>
      {pair && <Trades pair={pair} from={pair.baseId} to={pair.quoteId} title="Sold" />}
      {pair && <Trades pair={pair} from={pair.quoteId} to={pair.baseId} title="Bought" />}
    </>
  );
}

function Missing({ reverse }: { readonly reverse: Pair | undefined }) {
  if (!reverse) return <p class="empty">This basket has no such pair, or it does not trade.</p>;
  const { basketId, baseId, quoteId } = reverse;
  return (
    <p class="empty">
      The pair is told the other way round:{' '}
      <a href={hrefOf('pair', { basket: basketId, base: baseId, quote: quoteId })}>show it</a>.
    </p>
  );
}

function Day({ index, pair }: { readonly index: number; readonly pair: Pair }) {
  return (
    <At at={`/${index}`}>
      <p class="figure">
        <Value at="price" as="price" /> <Value at="quote" as="name" why="unknown here" /> for one{' '}
        <Value at="base" as="name" why="unknown here" />
      </p>
      <Fields>
        <Field label="Open">
          <Value at="open" as="price" />
        </Field>
        <Field label="High">
          <Value at="high" as="price" />
        </Field>
        <Field label="Low">
          <Value at="low" as="price" />
        </Field>
        <Field label="Close">
          <Value at="close" as="price" />
        </Field>
        <Field label="Change">
          <Value at="change24h" as="usd" unit="%" why="no price a day before" />
        </Field>
        <Field label="Volume of the base">
          <Value at="volumeBase" as="amount" />
        </Field>
        <Field label="Volume of the quote">
          <Value at="volumeQuote" as="amount" />
        </Field>
        <Field label="Volume">
          <Value at="volumeUsd" as="usd" unit="USD" />
        </Field>
        <Field label="Liquidity" help="Both sides in the basket">
          <Value at="liquidity" as="usd" unit="USD" why="a side has no price" />
        </Field>
        <Field label="Basket">
          <Value at="basket" as="name" href={hrefOf('basket', { basket: pair.basketId })} />
        </Field>
        <Field label="Chain">
          <Value at="chain" as="word" />
        </Field>
      </Fields>
    </At>
  );
}

interface TradesProps {
  readonly pair: Pair;
  readonly from: string;
  readonly to: string;
  readonly title: string;
}

/** Completed conversions one way, asked for once the chain is known. */
function Trades({ pair: { chain, basketId }, from, to, title }: TradesProps) {
  const query = { chain, from, to, basket: basketId, status: 'completed', pageSize: '10' };
  const answer = useMemo(() => ask(call('/api/conversions/', { query })), [chain, basketId, from, to]);
  return (
    <Panel title={`${title}: the newest trades`} answer={answer} isList frame="medium">
      {({ results }) => (
        <>
          <Table
            at="/results"
            rows={results}
            caption={`${title}: the newest trades`}
            empty="Nobody has traded this way."
            columns={[
              { head: 'Time', cell: () => <Value at="time" as="time" /> },
              { head: 'Given', isNumber: true, cell: () => <Value at="amountIn" as="amount" /> },
              {
                head: 'Received',
                isNumber: true,
                cell: () => <Value at="amountOut" as="amount" why="nothing was paid out" />,
              },
              { head: 'Price', isNumber: true, cell: () => <Value at="price" as="price" why="nothing was paid out" /> },
              {
                head: 'Worth',
                isNumber: true,
                cell: () => <Value at="usdValue" as="usd" unit="USD" why="no price at its height" />,
              },
              {
                head: 'Request',
                cell: ({ chain: at, txid }) => <Value at="txid" as="id" href={hrefOf('tx', { chain: at, txid })} />,
              },
            ]}
          />
          <p>
            <a href={hrefOf('conversions', {}, { chain, from, to, basket: basketId })}>All of them</a>
          </p>
        </>
      )}
    </Panel>
  );
}
