/** The expected output of a conversion, route by route. */
import {
  type Answer,
  address,
  Copy,
  handleSubmit,
  hrefOf,
  navigate,
  Panel,
  PlainTable,
  session,
  shownNumber,
  Text,
  type ViewProps,
} from '../kit.ts';
import { Estimate } from './convert-estimate.tsx';
import { type IndicatedRoute, indicatedRoutes, type TradingBasket } from './convert-routes.ts';

type Baskets = Answer<'/api/market/baskets'>;

/** Amounts that the API accepts. */
const AMOUNT = /^(?=.*[1-9])\d{1,10}(\.\d{1,8})?$/;
const MOST_ROUTES = 20;

export function View({ query, answers: [baskets] }: ViewProps<'convert'>) {
  const rows = baskets.shown.value?.data ?? [];
  const names = namesOf(rows);
  const asked = { from: query.get('from') ?? '', to: query.get('to') ?? '', amount: query.get('amount') ?? '1' };
  const [from, to] = [idOf(names, asked.from) ?? '', idOf(names, asked.to) ?? ''];
  const [best] = problemOf(asked, names) === null ? indicatedRoutes(rows, from, to) : [];
  const indication = <Routes answer={baskets} asked={asked} names={names} />;
  const estimates = session.value !== null && best !== undefined;
  return (
    <>
      <RequestForm asked={asked} names={names} />
      {estimates ? (
        <Estimate chain={best.chain} from={from} to={to} amount={asked.amount} otherwise={indication} />
      ) : (
        indication
      )}
    </>
  );
}

/** Names of the currencies in trading baskets, by i-address. */
function namesOf(baskets: readonly TradingBasket[]): ReadonlyMap<string, string> {
  const sides = baskets.flatMap((basket) => [basket, ...basket.reserves]);
  return new Map(sides.map(({ currencyId, name }) => [currencyId, name ?? currencyId]));
}

function idOf(names: ReadonlyMap<string, string>, text: string): string | null {
  const wanted = text.toLowerCase();
  const found = [...names].find(([id, name]) => id === text || name.toLowerCase() === wanted);
  return found?.[0] ?? null;
}

interface RouteRequest {
  readonly from: string;
  readonly to: string;
  readonly amount: string;
}

interface RequestProps {
  readonly asked: RouteRequest;
  readonly names: ReadonlyMap<string, string>;
}

function RequestForm({ asked, names }: RequestProps) {
  const shown = (text: string) => names.get(text) ?? text;
  const go = (form: HTMLFormElement) => {
    const given = new FormData(form);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    const currency = (name: string) => idOf(names, text(name)) ?? text(name);
    navigate(hrefOf('convert', {}, { from: currency('from'), to: currency('to'), amount: text('amount') }));
  };
  return (
    <form class="panel filters" aria-label="Convert" onSubmit={handleSubmit(go)}>
      {(['from', 'to'] as const).map((side) => (
        <div key={side}>
          <label for={`convert-${side}`}>{side === 'from' ? 'From' : 'To'}</label>
          <input
            id={`convert-${side}`}
            name={side}
            type="text"
            list="convert-currencies"
            required
            autocomplete="off"
            spellcheck={false}
            defaultValue={shown(asked[side])}
          />
        </div>
      ))}
      <div>
        <label for="convert-amount">Amount</label>
        <input
          id="convert-amount"
          name="amount"
          type="text"
          inputMode="decimal"
          required
          autocomplete="off"
          defaultValue={asked.amount}
        />
      </div>
      <datalist id="convert-currencies">
        {[...names].map(([id, name]) => (
          <option key={id} value={name} />
        ))}
      </datalist>
      <div class="actions">
        <button type="submit">Compare routes</button>
        <a
          href={hrefOf('convert', {}, { from: asked.to, to: asked.from, amount: asked.amount })}
          aria-label="Swap From and To"
        >
          Swap
        </a>
      </div>
    </form>
  );
}

interface RoutesProps extends RequestProps {
  readonly answer: Baskets;
}

function Routes({ answer, asked, names }: RoutesProps) {
  return (
    <Panel title="Routes at current prices" answer={answer} frame="tall">
      {(baskets) => {
        const problem = problemOf(asked, names);
        if (problem !== null) {
          return (
            <p class="empty">
              <Text text={problem} />
            </p>
          );
        }
        const [from, to] = [idOf(names, asked.from) ?? '', idOf(names, asked.to) ?? ''];
        const routes = indicatedRoutes(baskets, from, to).slice(0, MOST_ROUTES);
        if (routes.length === 0) return <p class="empty">No route over one or two baskets converts this.</p>;
        return (
          <>
            <p class="note">
              <strong>An indication</strong> from mid prices: without fees, slippage and pending conversions. What a
              conversion would bring, as the daemon estimates it, needs the tier developer
              {session.value === null && (
                <>
                  : <a href={hrefOf('login', {}, { next: address.value })}>log in</a> with an identity that has it
                </>
              )}
              .
            </p>
            <p class="actions">
              <Copy label="Copy the request" text={estimateRequest(asked)} />
            </p>
            <RouteTable routes={routes} asked={asked} names={names} />
          </>
        );
      }}
    </Panel>
  );
}

function problemOf({ from, to, amount }: RouteRequest, names: ReadonlyMap<string, string>): string | null {
  if (from === '' || to === '') return 'Choose two currencies to compare the routes between them.';
  for (const side of [from, to]) if (idOf(names, side) === null) return `No basket that trades holds ${side}.`;
  if (idOf(names, from) === idOf(names, to)) return 'From and To are the same currency.';
  if (!AMOUNT.test(amount)) return 'The amount is a number of coins above zero, with at most 8 decimals.';
  return null;
}

function estimateRequest({ from, to, amount }: RouteRequest): string {
  const url = new URL('/api/market/best-conversion', location.origin);
  for (const [name, value] of Object.entries({ from, to, amount })) url.searchParams.set(name, value);
  return `curl -H 'Authorization: Bearer YOUR_KEY' '${url.href.replaceAll("'", '%27')}'`;
}

interface RouteTableProps extends RequestProps {
  readonly routes: readonly IndicatedRoute[];
}

function RouteTable({ routes, asked, names }: RouteTableProps) {
  const best = routes[0]?.rate ?? 0;
  const name = (id: string) => <Text text={names.get(id) ?? id} isName />;
  return (
    <div class="scroll">
      <PlainTable
        caption="Routes"
        rows={routes}
        columns={[
          {
            label: 'Route',
            cell: ({ legs }) =>
              legs.map(({ basket, to }) => (
                <span key={basket} class="leg">
                  through <a href={hrefOf('basket', { basket })}>{name(basket)}</a> to {name(to)}
                </span>
              )),
          },
          { label: 'Chain', cell: ({ chain }) => chain },
          { label: 'Legs', isNumber: true, cell: ({ legs }) => legs.length },
          {
            label: 'Output',
            head: <>Output in {name(idOf(names, asked.to) ?? asked.to)}</>,
            isNumber: true,
            cell: ({ rate }) => (
              <span data-derived="output">{shownNumber((Number(asked.amount) * rate).toFixed(8), 'amount')}</span>
            ),
          },
          {
            label: 'Rate',
            isNumber: true,
            cell: ({ rate }) => <span data-derived="rate">{shownNumber(rate.toPrecision(8), 'price')}</span>,
          },
          {
            label: 'Against the best',
            isNumber: true,
            cell: ({ rate }) => (
              <span data-derived="against-best">
                {rate === best ? 'best' : `${shownNumber(((rate / best - 1) * 100).toFixed(2), 'usd')} %`}
              </span>
            ),
          },
        ]}
      />
    </div>
  );
}
