/** Whatever feeds and chain report, and whenever the guard restarts, it publishes the same as a simple model. */
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type PriceFeed, PriceFeedFailed } from '../../infra/price-feeds/price-feed.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { recordedPriceChain } from '../../test/support/pipeline/price/recorded-price-chain.ts';
import { pricingRules } from '../price/run-price.ts';
import { type Guard, openGuard } from './open-guard.ts';

const RUNS = Number(process.env.LAWS_RUNS ?? 25);
/** The feed knows the anchor and another currency; the third currency is never queried. */
const [ANCHOR, KNOWN, UNASKED] = ['anchor', 'known', 'unasked'];
const IDS = { [ANCHOR]: 'a', [KNOWN]: 'k' };
const BEGIN = 1_700_000_000_000;
const FORGET_MINUTES = 15;

const chains = [recordedPriceChain({ minBasketAge: 0, stableAnchors: [ANCHOR] })];
const guarded = { chains, rules: pricingRules(chains, { cutover: 0, minBasketDepthUsd: 1, priceLimits: {} }) };

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

type Prices = Readonly<Record<string, number>>;

interface Step {
  readonly minutes: number;
  readonly restarts: boolean;
  /** Null: the feed fails. */
  readonly feed: Prices | null;
  readonly chain: Prices;
}

/** Cents, so that the model is exact, on both sides of every bound of the guard. */
const cents = fc.constantFrom(50, 94, 95, 96, 98, 100, 102, 104, 105, 106, 200);
const anchorCents = fc.constantFrom(100, 100, 101, 90);
const step: fc.Arbitrary<Step> = fc.record({
  minutes: fc.constantFrom(0, 5, 15, 16, 20),
  restarts: fc.boolean(),
  feed: fc.option(fc.record({ [KNOWN]: cents, [ANCHOR]: anchorCents }, { requiredKeys: [] }) as fc.Arbitrary<Prices>, {
    freq: 2,
  }),
  chain: fc.record({ [KNOWN]: cents, [UNASKED]: cents, [ANCHOR]: fc.constant(100) }) as fc.Arbitrary<Prices>,
});

interface Seen {
  readonly cents: number;
  readonly isRejected: boolean;
}

function createModel() {
  const heard = new Map<string, { readonly cents: number; readonly minute: number }>();
  const good = new Map<string, { readonly cents: number; readonly isConfirmed: boolean }>();
  return (minute: number, { feed, chain }: Step): Record<string, Seen> => {
    for (const [id, cents] of Object.entries(feed ?? {})) heard.set(id, { cents, minute });
    const outside = (id: string) => {
      const last = heard.get(id);
      return last && minute - last.minute <= FORGET_MINUTES ? last.cents : null;
    };
    const anchor = outside(ANCHOR);
    const isOffPeg = anchor !== null && Math.abs(anchor - 100) > 2;
    const isSilent = anchor === null && good.get(ANCHOR)?.isConfirmed;
    const seen: Record<string, Seen> = {};
    for (const [id, cents] of Object.entries(chain)) {
      const said = outside(id);
      const isRejected = isOffPeg || (said !== null && Math.abs(cents - said) * 100 > 5 * said);
      const before = good.get(id);
      seen[id] = { cents: isRejected ? (before?.cents ?? cents) : cents, isRejected };
      if (isRejected || (said === null && before && (before.isConfirmed || isSilent))) continue;
      good.set(id, { cents, isConfirmed: said !== null });
    }
    return seen;
  };
}

beforeEach(async () => {
  for (const currencyId of [ANCHOR, KNOWN, UNASKED]) {
    await stores.postgres.pool.query(
      `INSERT INTO prices VALUES (1, $1, 0, 'vrsc', 1, 1, 1, 1, 1, 1, NULL, '[]') ON CONFLICT DO NOTHING`,
      [currencyId],
    );
  }
});

async function published(): Promise<Record<string, Seen>> {
  const { rows } = await stores.postgres.pool.query<{ id: string; cents: number; rejected: boolean }>(
    `SELECT currency_id AS id, (coalesce(guard.published ->> 'usdPrice', p.usd_price::text)::numeric * 100)::float8 AS cents,
       coalesce(guard.status = 'rejected', false) AS rejected
     FROM prices p LEFT JOIN price_guards guard USING (currency_id)`,
  );
  return Object.fromEntries(rows.map(({ id, cents, rejected }) => [id, { cents, isRejected: rejected }]));
}

async function setPrices(chain: Prices): Promise<void> {
  await stores.postgres.pool.query(
    `UPDATE prices SET usd_price = cents / 100 FROM unnest($1::text[], $2::numeric[]) AS now (id, cents) WHERE currency_id = id`,
    [Object.keys(chain), Object.values(chain)],
  );
}

/** The feed's current prices; null: the feed fails. */
let spoken: Prices | null;
const feed: PriceFeed = {
  source: 'feed.example',
  async prices() {
    if (!spoken) throw new PriceFeedFailed('feed.example', 'it is silent');
    return new Map(Object.entries(spoken).map(([currencyId, cents]) => [IDS[currencyId] ?? '', cents / 100]));
  },
  close: async () => {},
};

function open(priceFeedIds: Readonly<Record<string, string>> = IDS): Promise<Guard> {
  const { transaction } = stores.postgres;
  const { signal } = new AbortController();
  const logger = pino({ level: 'silent' });
  return openGuard({ guarded, feeds: [feed], config: { priceFeedIds }, stores, lock: { transaction }, logger, signal });
}

async function play(steps: readonly Step[]): Promise<void> {
  await stores.postgres.pool.query('DELETE FROM price_guards; DELETE FROM good_prices');
  const model = createModel();
  let minute = 0;
  let guard: Guard | null = null;
  for (const one of steps) {
    minute += one.minutes;
    if (one.restarts || !guard) guard = await open();
    spoken = one.feed;
    await setPrices(one.chain);
    await guard.ask(BEGIN + minute * 60_000);
    await guard.look();
    expect(await published()).toEqual(model(minute, one));
  }
}

it('publishes the same as the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), (steps) => play(steps)),
    { numRuns: RUNS, endOnFailure: process.env.LAWS_RUNS === undefined },
  );
}, 300_000);

const at = (known: number): Prices => ({ [KNOWN]: known, [UNASKED]: 100, [ANCHOR]: 100 });
const says = (known: number): Step => ({ minutes: 5, restarts: false, feed: { [KNOWN]: 100 }, chain: at(known) });

it('publishes the price that a feed confirmed before it fell silent', async () => {
  await play([says(100), says(60), { ...says(60), minutes: 20, feed: null }, says(60)]);
  expect(await published()).toMatchObject({ [KNOWN]: { cents: 100, isRejected: true } });
});

it('publishes the price that was good before the anchor left its peg and the feed fell silent', async () => {
  const anchor = (said: number | null, chain: number): Step => ({
    minutes: said === null ? 20 : 5,
    restarts: said === null,
    feed: said === null ? null : { [ANCHOR]: said },
    chain: { [KNOWN]: 100, [UNASKED]: chain, [ANCHOR]: 100 },
  });
  await play([anchor(100, 100), anchor(90, 50), anchor(null, 50), anchor(90, 50)]);
  expect(await published()).toMatchObject({ [UNASKED]: { cents: 100, isRejected: true } });
});

it('publishes a price that was good before a restart, and the derived price when none ever was', async () => {
  await play([says(100), { ...says(60), restarts: true }]);
  expect(await published()).toMatchObject({ [KNOWN]: { cents: 100, isRejected: true } });
  await play([says(60), { ...says(50), restarts: true }]);
  expect(await published()).toMatchObject({ [KNOWN]: { cents: 50, isRejected: true } });
});

it('forgets the external price of a currency that is no longer queried', async () => {
  await play([{ ...says(100), feed: { [KNOWN]: 100, [ANCHOR]: 100 } }]);
  const { [ANCHOR]: id = '' } = IDS;
  const guard = await open({ [ANCHOR]: id });
  const { pool } = stores.postgres;
  for (const cents of [60, 70]) {
    await setPrices(at(cents));
    await guard.look();
    const guards = await pool.query('SELECT currency_id FROM price_guards');
    expect(guards.rows).toEqual([{ currency_id: ANCHOR }]);
    const good = await pool.query(
      `SELECT confirmed, price ->> 'usdPrice' AS usd FROM good_prices WHERE currency_id = $1`,
      [KNOWN],
    );
    expect(good.rows).toEqual([{ confirmed: false, usd: expect.stringMatching(`^0.${cents / 10}0*$`) }]);
  }
});
