/** The market: currencies, baskets, prices and volume. */
import {
  type Answer,
  Field,
  Fields,
  hrefOf,
  Panel,
  Sparkline,
  Status,
  Table,
  Value,
  type ViewProps,
  VolumeChart,
} from '../kit.ts';

export function View({ answers: [currencies, baskets, protocol, prices, volume] }: ViewProps<'market'>) {
  return (
    <>
      <Totals answer={protocol} />
      <Panel title="Currencies" answer={currencies} isList frame="tall">
        {(rows) => (
          <Table
            at=""
            rows={rows}
            caption="Currencies, the most liquid first"
            empty="No currency has a price yet: a price needs a basket that holds an anchor."
            columns={[
              {
                head: 'Currency',
                at: 'name',
                as: 'name',
                href: ({ currencyId }) => hrefOf('price', { id: currencyId }),
              },
              { head: 'Chain', at: 'chain', as: 'word' },
              { head: 'Price', at: 'price', as: 'price', unit: 'USD' },
              {
                head: '24 h',
                isNumber: true,
                cell: ({ change24h }) => <Change change={change24h} />,
              },
              { head: 'Volume 24 h', at: 'volume24h', as: 'usd', unit: 'USD' },
              { head: 'Liquidity', at: 'liquidity', as: 'usd', unit: 'USD' },
              { head: 'Confidence', at: 'confidence', as: 'integer', unit: 'of 100' },
              { head: 'Last week', cell: ({ sparkline }) => <Sparkline values={sparkline} /> },
            ]}
          />
        )}
      </Panel>
      <Baskets answer={baskets} />
      <Prices answer={prices} />
      <Panel title="Volume" answer={volume} frame="tall">
        {(rows) => (
          <>
            <VolumeChart rows={rows} period="daily" />
            <p>
              <a href={hrefOf('volume', {})}>By week and by month</a>
            </p>
          </>
        )}
      </Panel>
    </>
  );
}

/** The sign shows the direction too, for readers who do not see the colour. */
function Change({ change }: { readonly change: string | null }) {
  const way = change === null || Number(change) === 0 ? undefined : Number(change) > 0 ? 'rose' : 'fell';
  return (
    <span class={way}>
      <Value at="change24h" as="usd" unit="%" why="no price a day before" />
    </span>
  );
}

function Totals({ answer }: { readonly answer: Answer<'/api/market/protocol'> }) {
  return (
    <Panel title="Totals" answer={answer} frame="medium">
      {() => (
        <Fields>
          <Field label="Held by baskets" at="tvl" as="usd" unit="USD" />
          <Field label="Native coin" at="vrscPrice" as="price" unit="USD" why="it has no price" />
          <Field label="Native coin in pools" at="vrscInPools" as="amount" href={hrefOf('pools', {})} />
          <Field label="Worth" at="vrscInPoolsUsd" as="usd" unit="USD" why="the native coin has no price" />
          <Field label="Volume of 24 h" at="volume24h" as="usd" unit="USD" />
          <Field label="Volume of 30 days" at="volume30d" as="usd" unit="USD" href={hrefOf('volume', {})} />
          <Field label="Volume of all time" at="volumeAllTime" as="usd" unit="USD" />
          <Field label="Fees of 30 days" at="fees30d" as="usd" unit="USD" />
          <Field label="Trades of 30 days" at="trades30d" as="integer" />
          <Field label="Trades of all time" at="tradesAllTime" as="integer" />
          <Field label="Baskets" at="baskets" as="integer" />
          <Field label="Currencies" at="currencies" as="integer" />
          <Field label="Chains" at="pbaasChains" as="integer" />
          <Field label="Identities" at="identities" as="integer" />
          <Field label="Provisional" help="A slower chain may still change these numbers" at="provisional" />
        </Fields>
      )}
    </Panel>
  );
}

function Baskets({ answer }: { readonly answer: Answer<'/api/market/baskets'> }) {
  return (
    <Panel title="Baskets" answer={answer} isList frame="medium">
      {(rows) => (
        <Table
          at=""
          rows={rows}
          caption="Baskets, the largest first"
          empty="No basket trades yet."
          columns={[
            {
              head: 'Basket',
              at: 'name',
              as: 'name',
              href: ({ currencyId }) => hrefOf('basket', { basket: currencyId }),
            },
            { head: 'Chain', at: 'chain', as: 'word' },
            { head: 'Holds', at: 'tvl', as: 'usd', unit: 'USD' },
            { head: 'Price', at: 'price', as: 'price', unit: 'USD', why: 'it has no price' },
            { head: 'Supply', at: 'supply', as: 'amount' },
            { head: 'Volume 24 h', at: 'volume24h', as: 'usd', unit: 'USD' },
            { head: 'Fees 24 h', at: 'fees24h', as: 'usd', unit: 'USD' },
          ]}
        />
      )}
    </Panel>
  );
}

function Prices({ answer }: { readonly answer: Answer<'/api/oracle/prices'> }) {
  return (
    <Panel title="Prices with enough depth" answer={answer} isList frame="medium">
      {(rows) => (
        <Table
          at=""
          rows={rows}
          caption="Prices of currencies with enough depth behind them, the deepest first"
          empty="No currency has enough depth behind its price to be listed here; the table of currencies has them all."
          columns={[
            {
              head: 'Currency',
              at: 'currencyName',
              as: 'name',
              why: 'unknown here',
              href: ({ currencyId }) => hrefOf('price', { id: currencyId }),
            },
            { head: 'Spot', at: 'usdPrice', as: 'price', unit: 'USD' },
            { head: 'Average', at: 'emaPrice', as: 'price', unit: 'USD' },
            {
              head: 'Status',
              cell: ({ status }) => <Status is={status} />,
            },
            { head: 'Confidence', at: 'confidence', as: 'integer', unit: 'of 100' },
            { head: 'Depth', at: 'totalDepth', as: 'usd', unit: 'USD' },
            { head: 'Deepest basket', at: 'sourceBasket', as: 'name', why: 'an anchor' },
            { head: 'As of block', at: 'sourceBlock', as: 'integer' },
            { head: 'Provisional', at: 'provisional' },
          ]}
        />
      )}
    </Panel>
  );
}
