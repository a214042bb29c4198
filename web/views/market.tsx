/** What trades, at which price, and how much of it. */
import {
  type Answer,
  Field,
  Fields,
  hrefOf,
  Panel,
  Sparkline,
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
                cell: ({ currencyId }) => <Value at="name" as="name" href={hrefOf('price', { id: currencyId })} />,
              },
              { head: 'Chain', cell: () => <Value at="chain" as="word" /> },
              { head: 'Price', isNumber: true, cell: () => <Value at="price" as="price" unit="USD" /> },
              {
                head: '24 h',
                isNumber: true,
                cell: ({ change24h }) => <Change change={change24h} />,
              },
              { head: 'Volume 24 h', isNumber: true, cell: () => <Value at="volume24h" as="usd" unit="USD" /> },
              { head: 'Liquidity', isNumber: true, cell: () => <Value at="liquidity" as="usd" unit="USD" /> },
              { head: 'Confidence', isNumber: true, cell: () => <Value at="confidence" as="integer" unit="of 100" /> },
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

/** Its sign says which way it went, too. */
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
          <Field label="Held by baskets">
            <Value at="tvl" as="usd" unit="USD" />
          </Field>
          <Field label="Native coin">
            <Value at="vrscPrice" as="price" unit="USD" why="it has no price" />
          </Field>
          <Field label="Native coin in pools">
            <Value at="vrscInPools" as="amount" href={hrefOf('pools', {})} />
          </Field>
          <Field label="Worth">
            <Value at="vrscInPoolsUsd" as="usd" unit="USD" why="the native coin has no price" />
          </Field>
          <Field label="Volume of 24 h">
            <Value at="volume24h" as="usd" unit="USD" />
          </Field>
          <Field label="Volume of 30 days">
            <Value at="volume30d" as="usd" unit="USD" href={hrefOf('volume', {})} />
          </Field>
          <Field label="Volume of all time">
            <Value at="volumeAllTime" as="usd" unit="USD" />
          </Field>
          <Field label="Fees of 30 days">
            <Value at="fees30d" as="usd" unit="USD" />
          </Field>
          <Field label="Trades of 30 days">
            <Value at="trades30d" as="integer" />
          </Field>
          <Field label="Trades of all time">
            <Value at="tradesAllTime" as="integer" />
          </Field>
          <Field label="Baskets">
            <Value at="baskets" as="integer" />
          </Field>
          <Field label="Currencies">
            <Value at="currencies" as="integer" />
          </Field>
          <Field label="Chains">
            <Value at="pbaasChains" as="integer" />
          </Field>
          <Field label="Identities">
            <Value at="identities" as="integer" />
          </Field>
          <Field label="Provisional" help="A slower chain may still change these numbers">
            <Value at="provisional" />
          </Field>
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
              cell: ({ currencyId }) => <Value at="name" as="name" href={hrefOf('basket', { basket: currencyId })} />,
            },
            { head: 'Chain', cell: () => <Value at="chain" as="word" /> },
            { head: 'Holds', isNumber: true, cell: () => <Value at="tvl" as="usd" unit="USD" /> },
            {
              head: 'Price',
              isNumber: true,
              cell: () => <Value at="price" as="price" unit="USD" why="it has no price" />,
            },
            { head: 'Supply', isNumber: true, cell: () => <Value at="supply" as="amount" /> },
            { head: 'Volume 24 h', isNumber: true, cell: () => <Value at="volume24h" as="usd" unit="USD" /> },
            { head: 'Fees 24 h', isNumber: true, cell: () => <Value at="fees24h" as="usd" unit="USD" /> },
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
              cell: ({ currencyId }) => (
                <Value at="currencyName" as="name" why="unknown here" href={hrefOf('price', { id: currencyId })} />
              ),
            },
            { head: 'Spot', isNumber: true, cell: () => <Value at="usdPrice" as="price" unit="USD" /> },
            { head: 'Average', isNumber: true, cell: () => <Value at="emaPrice" as="price" unit="USD" /> },
            {
              head: 'Status',
              cell: ({ status }) => (
                <span class={`status ${status}`}>
                  <Value at="status" as="word" />
                </span>
              ),
            },
            { head: 'Confidence', isNumber: true, cell: () => <Value at="confidence" as="integer" unit="of 100" /> },
            { head: 'Depth', isNumber: true, cell: () => <Value at="totalDepth" as="usd" unit="USD" /> },
            { head: 'Deepest basket', cell: () => <Value at="sourceBasket" as="name" why="an anchor" /> },
            { head: 'As of block', isNumber: true, cell: () => <Value at="sourceBlock" as="integer" /> },
            { head: 'Provisional', cell: () => <Value at="provisional" /> },
          ]}
        />
      )}
    </Panel>
  );
}
