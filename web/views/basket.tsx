/** A basket: its reserves now and over time, and trading through it. */
import {
  type Answer,
  At,
  Chart,
  type ChartSeries,
  Choices,
  Field,
  Fields,
  hrefOf,
  inertText,
  Panel,
  percentOf,
  Share,
  shownNumber,
  Table,
  Text,
  useNames,
  Value,
  type ViewProps,
  VolumeChart,
} from '../kit.ts';

const DAYS = { 7: '7 days', 30: '30 days', 365: '1 year' } as const;

type Reserves = Answer<'/api/market/baskets/{id}/reserves'>;
type Baskets = Answer<'/api/market/baskets'>;
type Point = NonNullable<Reserves['shown']['value']>['data']['data'][number];
type Basket = NonNullable<Baskets['shown']['value']>['data'][number];

export function View({ answers: [reserves, baskets, volume] }: ViewProps<'basket'>) {
  const shown = reserves.shown.value?.data;
  useNames({ basket: shown?.basket });
  const all = baskets.shown.value?.data ?? [];
  const basket = all.find(({ currencyId }) => currencyId === shown?.basketId);
  return (
    <>
      <Now answer={baskets} reserves={reserves} />
      {basket && <Pairs basket={basket} />}
      <Choices label="Days" parameter="days" options={DAYS} />
      <Worth answer={reserves} basket={basket} />
      <Amounts answer={reserves} basket={basket} />
      <Panel title="Volume" answer={volume} isList frame="tall">
        {(rows) => <VolumeChart rows={rows} period="daily" />}
      </Panel>
    </>
  );
}

/** The basket's i-address comes from the answer about its reserves. */
function Now({ answer, reserves }: { readonly answer: Baskets; readonly reserves: Reserves }) {
  const id = reserves.shown.value?.data.basketId;
  return (
    <Panel title="Now" answer={answer} frame="tall">
      {(all) => {
        if (id === undefined) return reserves.trouble.value ? null : <div class="frame tall" aria-busy="true" />;
        const index = all.findIndex(({ currencyId }) => currencyId === id);
        const basket = all[index];
        if (!basket) return <p class="empty">It does not trade: it was not launched, or its launch failed.</p>;
        return (
          <At at={`/${index}`}>
            <p class="figure">
              <Value at="name" as="name" />{' '}
              <Value at="price" as="price" unit="USD" why="no reserve of it has a price" />
            </p>
            <Fields>
              <Field label="Holds" at="tvl" as="usd" unit="USD" />
              <Field label="Supply" at="supply" as="amount" />
              <Field label="Volume of 24 h" at="volume24h" as="usd" unit="USD" />
              <Field label="Fees of 24 h" at="fees24h" as="usd" unit="USD" />
              <Field label="Chain" at="chain" as="text" />
              <Field label="Trading since block" at="inceptionHeight" as="integer" why="not known" />
              <Field label="Currency">
                <Value
                  at="currencyId"
                  as="id"
                  href={hrefOf('currency', { chain: basket.chain, id: basket.currencyId })}
                />
              </Field>
            </Fields>
            <Table
              at="reserves"
              rows={basket.reserves}
              caption="What the basket holds"
              empty="It holds nothing."
              columns={[
                {
                  head: 'Reserve',
                  cell: ({ currencyId, name }) => {
                    const href = hrefOf('price', { id: currencyId });
                    if (name === null) return <Value at="currencyId" as="id" href={href} />;
                    return <Value at="name" as="name" href={href} />;
                  },
                },
                { head: 'Amount', at: 'reserve', as: 'amount' },
                {
                  head: 'Target weight',
                  isNumber: true,
                  cell: () => <Share at="weight" />,
                },
                {
                  head: 'Share of worth',
                  isNumber: true,
                  cell: ({ usdValue }) => <ShareOfWorth part={usdValue} whole={basket.tvl} />,
                },
                { head: 'Price in the basket', at: 'priceInReserve', as: 'price' },
                { head: 'Price', at: 'usdPrice', as: 'price', unit: 'USD', why: 'it has no price' },
                { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'it has no price' },
              ]}
            />
          </At>
        );
      }}
    </Panel>
  );
}

/** Shown next to the target weight. */
function ShareOfWorth({ part, whole }: { readonly part: string | null; readonly whole: string }) {
  const share = part === null || Number(whole) === 0 ? null : Number(part) / Number(whole);
  return <span data-derived="share">{share === null ? '–' : percentOf(share)}</span>;
}

/** The basket's own token can be a side of a pair, too. */
function Pairs({ basket: { name, currencyId, reserves } }: { readonly basket: Basket }) {
  const sides = [{ currencyId, name }, ...reserves];
  const pairs = sides.flatMap((base, index) => sides.slice(index + 1).map((quote) => ({ base, quote })));
  return (
    <section class="panel" aria-label="Pairs">
      <header>
        <h2>Pairs</h2>
      </header>
      <ul class="words-list">
        {pairs.map(({ base, quote }) => (
          <li key={`${base.currencyId} ${quote.currencyId}`}>
            <a href={hrefOf('pair', { basket: currencyId, base: base.currencyId, quote: quote.currencyId })}>
              <Text text={base.name ?? base.currencyId} isName /> /{' '}
              <Text text={quote.name ?? quote.currencyId} isName />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface OverTimeProps {
  readonly answer: Reserves;
  readonly basket: Basket | undefined;
}

const nameIn = (basket: Basket | undefined, id: string) =>
  basket?.reserves.find(({ currencyId }) => currencyId === id)?.name ?? id;

/** Stacks the reserves, so that the top line is the worth of the whole basket. */
function Worth({ answer, basket }: OverTimeProps) {
  return (
    <Panel title="What it was worth" answer={answer} frame="tall">
      {({ data }) => {
        const ids = Object.keys(data.at(-1)?.reserves ?? {});
        return (
          <Chart
            at="/data"
            points={data}
            name="Worth of the reserves over time"
            caption={worthSentence(data)}
            time={({ time }) => time}
            step={null}
            isStacked
            series={ids.map((id) => ({
              name: nameIn(basket, id),
              kind: 'layer',
              unit: 'USD',
              as: 'usd',
              value: ({ usdValues }: Point) => usdValues[id] ?? null,
            }))}
            empty="It had no state in these days."
            columns={[
              { head: 'Time', at: 'time', as: 'time' },
              { head: 'Block', at: 'height', as: 'integer' },
              { head: 'Together', at: 'tvl', as: 'usd', unit: 'USD', why: 'no reserve had a price then' },
              ...ids.map((id) => ({
                head: inertText(nameIn(basket, id)),
                isNumber: true,
                cell: () => <Value at={`usdValues/${id}`} as="usd" unit="USD" why="it had no price then" />,
              })),
              { head: 'Supply', at: 'supply', as: 'amount' },
            ]}
          />
        );
      }}
    </Panel>
  );
}

function worthSentence(data: readonly Point[]): string {
  const [first, last] = [data[0], data.at(-1)];
  if (!first || !last || last.tvl === null) return 'Nothing in it has a price.';
  const now = `${shownNumber(last.tvl, 'usd')} USD`;
  return first.tvl === null
    ? `Worth ${now} now.`
    : `Worth ${now} now, ${shownNumber(first.tvl, 'usd')} USD at the start.`;
}

/** Draws each amount relative to its first point, since amounts differ widely in size. */
function Amounts({ answer, basket }: OverTimeProps) {
  return (
    <Panel title="What it held" answer={answer} frame="tall">
      {({ data }) => {
        const ids = Object.keys(data.at(-1)?.reserves ?? {});
        const series = ids.map((id): ChartSeries<Point> => {
          const first = Number(
            data.find(({ reserves }) => Number(reserves[id] ?? 0) !== 0)?.reserves[id] ?? Number.NaN,
          );
          const value = ({ reserves }: Point) => {
            const percent = (Number(reserves[id] ?? Number.NaN) / first) * 100;
            return Number.isFinite(percent) ? percent.toFixed(4) : null;
          };
          return { name: nameIn(basket, id), kind: 'step', unit: '%', as: 'usd', value };
        });
        return (
          <Chart
            at="/data"
            points={data}
            name="Amounts of the reserves over time"
            caption="Each reserve in percent of its amount at the first point. The numbers are the amounts."
            time={({ time }) => time}
            step={null}
            series={series}
            empty="It had no state in these days."
            columns={[
              { head: 'Time', at: 'time', as: 'time' },
              { head: 'Block', at: 'height', as: 'integer' },
              ...ids.map((id) => ({
                head: inertText(nameIn(basket, id)),
                isNumber: true,
                cell: () => <Value at={`reserves/${id}`} as="amount" />,
              })),
            ]}
          />
        );
      }}
    </Panel>
  );
}
