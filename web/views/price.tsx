/** The price of a currency: its current value, its sources, and its history. */
import {
  type Answer,
  Chart,
  Choices,
  Field,
  Fields,
  hrefOf,
  Panel,
  Share,
  Status,
  shownNumber,
  shownTime,
  Table,
  timeZone,
  useNames,
  Value,
  type ViewProps,
} from '../kit.ts';

const DAYS = { 1: '1 day', 7: '7 days', 30: '30 days', 365: '1 year' } as const;
const DAY = 86_400;
/** The service divides the days of a series into this many spans, each of at least 5 minutes. */
const SPANS = 499;
const LEAST_SPAN = 300;

export function View({ parts: { id }, answers: [detail, history] }: ViewProps<'price'>) {
  useNames({ id: detail.shown.value?.data.currencyName });
  return (
    <>
      <Current answer={detail} id={id} />
      <Choices label="Days" parameter="days" options={DAYS} standard="30" />
      <History answer={history} />
      <Sources answer={detail} />
      <GuardRail answer={detail} />
      <Newest answer={detail} />
    </>
  );
}

type Detail = Answer<'/api/oracle/prices/{id}'>;

function Current({ answer, id }: { readonly answer: Detail; readonly id: string }) {
  return (
    <Panel title="Price" answer={answer} frame="medium">
      {({ currentPrice: { status } }) => (
        <>
          <p class="figure">
            <Value at="/currencyName" as="name" /> <Value at="/currentPrice/usdPrice" as="price" unit="USD" />
          </p>
          <Fields>
            <Field label="Status">
              <Status is={status} at="/currentPrice/status" />
            </Field>
            <Field label="Confidence" help="By depth, number of baskets, their agreement, and age">
              <Value at="/currentPrice/confidence" as="integer" unit="of 100" />
            </Field>
            <Field label="Moving average" help="Time constant 600 s of chain time">
              <Value at="/currentPrice/emaPrice" as="price" unit="USD" />
            </Field>
            <Field label="Depth behind it" at="/currentPrice/totalDepth" as="usd" unit="USD" />
            <Field label="Deepest basket">
              <Value at="/currentPrice/sourceBasket" as="name" why="an anchor that no basket holds" />
            </Field>
            <Field label="As of block" at="/currentPrice/sourceBlock" as="integer" />
            <Field label="Time" at="/currentPrice/updatedAt" as="time" />
            <Field label="Provisional" help="Another chain has not come this far yet: the price may still be corrected">
              <Value at="/currentPrice/provisional" />
            </Field>
            <Field label="Waits for" at="/currentPrice/waitsFor" as="text" why="no other chain" />
            <Field label="Currency" at="/currencyId" as="id" />
          </Fields>
          <p>
            Conversions that moved it: <a href={hrefOf('conversions', {}, { from: id })}>from it</a>,{' '}
            <a href={hrefOf('conversions', {}, { to: id })}>to it</a>
          </p>
        </>
      )}
    </Panel>
  );
}

function History({ answer }: { readonly answer: Answer<'/api/market/prices/{name}/history'> }) {
  return (
    <Panel title="How it went" answer={answer} frame="tall">
      {({ name, days, data }) => (
        <Chart
          at="/data"
          points={data}
          name="Price over time"
          caption={sentence(name, data)}
          time={({ time }) => time}
          step={Math.max(LEAST_SPAN, Math.ceil((Number(days) * DAY) / SPANS))}
          series={[
            { name: 'Price', kind: 'line', unit: 'USD', as: 'price', value: ({ price }) => price },
            {
              name: 'Confidence',
              kind: 'step',
              unit: 'of 100',
              as: 'integer',
              scale: 'side',
              value: ({ confidence }) => confidence,
            },
            { name: 'Depth', kind: 'area', unit: 'USD', as: 'usd', scale: 'foot', value: ({ depth }) => depth },
          ]}
          empty="It had no price in these days."
          columns={[
            { head: 'Time', at: 'time', as: 'time' },
            { head: 'Price', at: 'price', as: 'price', unit: 'USD' },
            { head: 'Confidence', at: 'confidence', as: 'integer', unit: 'of 100' },
            { head: 'Depth', at: 'depth', as: 'usd', unit: 'USD' },
            { head: 'Status', at: 'status', as: 'word' },
          ]}
        />
      )}
    </Panel>
  );
}

interface Point {
  readonly time: string;
  readonly price: string;
}

function sentence(name: string, data: readonly Point[]): string {
  const [first, last] = [data[0], data.at(-1)];
  if (!first || !last) return '';
  const percent = (Number(last.price) / Number(first.price) - 1) * 100;
  const way = percent > 0 ? 'up' : 'down';
  const change = percent === 0 ? 'unchanged' : `${way} ${shownNumber(Math.abs(percent).toFixed(2), 'usd')} %`;
  const since = shownTime(Number(first.time) * 1000, timeZone.value);
  return `${name} ${shownNumber(last.price, 'price')} USD, ${change} since ${since}.`;
}

function Sources({ answer }: { readonly answer: Detail }) {
  return (
    <Panel title="Where it comes from" answer={answer} frame="medium">
      {({ liveCalculation: { baskets } }) => (
        <>
          <Fields>
            <Field label="Weighted by depth" at="/liveCalculation/weightedPrice" as="price" unit="USD" />
          </Fields>
          <Table
            at="/liveCalculation/baskets"
            rows={baskets}
            caption="Baskets that the price comes from, the deepest first"
            empty="An anchor: it is worth a dollar by definition, whatever baskets say."
            columns={[
              {
                head: 'Basket',
                at: 'basket',
                as: 'name',
                why: 'unknown here',
                href: ({ basketId }) => hrefOf('basket', { basket: basketId }),
              },
              { head: 'Chain', at: 'chain', as: 'word' },
              { head: 'Price', at: 'price', as: 'price', unit: 'USD' },
              { head: 'Depth', at: 'depth', as: 'usd', unit: 'USD' },
              {
                head: 'Weight',
                isNumber: true,
                cell: ({ weight }) => (
                  <>
                    <Share at="weight" />{' '}
                    <meter class="share" min={0} max={1} value={Number(weight)} aria-hidden="true" />
                  </>
                ),
              },
            ]}
          />
        </>
      )}
    </Panel>
  );
}

function GuardRail({ answer }: { readonly answer: Detail }) {
  const why = 'no outside price is known for it';
  return (
    <Panel title="Against outside prices" answer={answer} frame="short">
      {({ guardRail }) => (
        <>
          {guardRail.externalPrice === null && <p class="lead">No outside price is known for it.</p>}
          <Fields>
            <Field label="Outside price" at="/guardRail/externalPrice" as="price" unit="USD" why={why} />
            <Field label="Deviation" at="/guardRail/deviationPct" as="usd" unit="%" why={why} />
            <Field label="Verdict" at="/guardRail/status" as="word" why={why} />
            <Field label="Source" at="/guardRail/source" as="word" why={why} />
            <Field label="Asked at" at="/guardRail/checkedAt" as="time" why={why} />
          </Fields>
        </>
      )}
    </Panel>
  );
}

function Newest({ answer }: { readonly answer: Detail }) {
  return (
    <Panel title="Block by block" answer={answer} frame="medium">
      {({ priceHistory }) => (
        <Table
          at="/priceHistory"
          rows={priceHistory}
          caption="The newest prices, block by block"
          empty="It has no price that is complete yet."
          columns={[
            { head: 'Block', at: 'blockHeight', as: 'integer' },
            { head: 'Time', at: 'createdAt', as: 'time' },
            { head: 'Price', at: 'usdPrice', as: 'price', unit: 'USD' },
            { head: 'Deepest basket', at: 'basket', as: 'name', why: 'an anchor that no basket holds' },
            { head: 'Confidence', at: 'confidence', as: 'integer', unit: 'of 100' },
            { head: 'Provisional', at: 'provisional' },
          ]}
        />
      )}
    </Panel>
  );
}
