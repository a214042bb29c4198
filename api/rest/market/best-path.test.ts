/** Compares the best route over many baskets, most with tiny reserves, with the result of estimating every route. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExact } from '../../../domain/json/exact-json.ts';
import { coinsToSatoshis, satoshisToCoins } from '../../../domain/satoshi.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { bestConversion } from './best-conversion.ts';
import { type ConversionRoute, routesBetween } from './conversion-paths.ts';
import type { Estimator } from './estimate-paths.ts';
import type { LiveBasket } from './live-baskets.ts';

const RUNS = Number(process.env.ROUTE_RUNS ?? 2000);
const BASKETS = 30;
const MONEY = ['a', 'b', 'c', 'd', 'e', 'z'];
const COIN = 10n ** 8n;
const currencies = { name: (id: string) => id } as unknown as Currencies;

/** Satoshis of very different sizes: every number of digits is equally likely. */
const satoshis = (least: number, most: number) =>
  fc
    .tuple(fc.double({ min: least, max: most, noNaN: true }), fc.integer({ min: 0, max: 9 }))
    .map(([digits, last]) => BigInt(Math.floor(10 ** digits)) + BigInt(last));

/** A basket can hold only baskets that were defined before it. */
const basketArbitrary = (name: string, earlier: readonly string[]): fc.Arbitrary<LiveBasket> =>
  fc
    .record({
      members: fc.subarray([...MONEY, ...earlier], { minLength: 2, maxLength: 4 }),
      dusty: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn < 7),
      supply: satoshis(6, 15),
    })
    .chain(({ members, dusty, supply }) =>
      fc.tuple(...members.map(() => (dusty ? satoshis(2, 8) : satoshis(9, 15)))).map((reserves) => ({
        chain: 'vrsc',
        currencyId: name,
        name,
        supply,
        liveHeight: 1,
        reserves: members.map((currencyId, index) => ({
          currencyId,
          weight: COIN / BigInt(members.length),
          reserves: reserves[index] ?? 1n,
          priceInReserve: 1n,
        })),
      })),
    );

const world = fc.record({
  baskets: fc.tuple(
    ...Array.from({ length: BASKETS }, (_, index) =>
      basketArbitrary(`basket${index}`, ['basket0', 'basket1'].slice(0, index)),
    ),
  ),
  from: fc.constantFrom(...MONEY, 'basket0'),
  to: fc.constantFrom(...MONEY, 'basket1'),
  amount: satoshis(0, 16),
});

/** (1 + part / whole) ^ exponent − 1. Doubles are precise enough: the test compares estimates, not the formula. */
const grown = (part: bigint, whole: bigint, exponent: number) =>
  Math.expm1(exponent * Math.log1p(Number(part) / Number(whole)));

/** The daemon's payout: prices in whole satoshis, every step rounded down. */
function paid(basket: LiveBasket, from: string, to: string, amount: bigint): { net: bigint; output: bigint } {
  const fee = (amount * 25_000n) / COIN;
  const reserve = (id: string) => basket.reserves.find(({ currencyId }) => currencyId === id);
  const [source, target] = [reserve(from), reserve(to)];
  const net = amount - (source && target ? 2n * fee : fee);
  let tokens = net;
  let supply = basket.supply;
  if (source) {
    const issued = Number(supply) * grown(net, source.reserves, Number(source.weight) / 1e8);
    const price = BigInt(Math.floor((Number(net) * 1e8) / issued));
    tokens = price > 0n ? (net * COIN) / price : 0n;
    supply += tokens;
  }
  if (!target || tokens === 0n) return { net, output: tokens };
  const released =
    tokens >= supply
      ? Number(target.reserves)
      : -Number(target.reserves) * grown(-tokens, supply, 1e8 / Number(target.weight));
  return { net, output: (tokens * BigInt(Math.floor((released * 1e8) / Number(tokens)))) / COIN };
}

function daemonOf(baskets: readonly LiveBasket[]) {
  let calls = 0;
  const call = async (_method: string, [transfer]: readonly unknown[]) => {
    calls++;
    const { currency, convertto, via, amount } = transfer as Record<string, string>;
    const id =
      via ??
      (baskets.some(
        ({ currencyId, reserves }) => currencyId === convertto && reserves.some((one) => one.currencyId === currency),
      )
        ? convertto
        : currency);
    const basket = baskets.find(({ currencyId }) => currencyId === id);
    if (!basket) throw new RangeError(`no basket ${id}`);
    const { net, output } = paid(basket, currency ?? '', convertto ?? '', coinsToSatoshis(amount ?? ''));
    return parseExact(`{"netinputamount":${satoshisToCoins(net)},"estimatedcurrencyout":${satoshisToCoins(output)}}`);
  };
  return { daemon: { call } as unknown as Estimator, calls: () => calls };
}

const through = (route: ConversionRoute, amount: bigint) =>
  route.reduce((held, { basket, from, to }) => (held === 0n ? 0n : paid(basket, from, to, held).output), amount);

test(`in each of ${RUNS} random markets of ${BASKETS} baskets the best route equals the best of all routes, to the satoshi`, async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(world, async ({ baskets, from, to, amount }) => {
      const { daemon, calls } = daemonOf(baskets);
      const best = await bestConversion({ from, to, amount }, { baskets, currencies, daemon });
      const outputs = routesBetween(baskets, from, to).map((route) => through(route, amount));
      if (outputs.length === 0) {
        expect(best).toBeNull();
        return;
      }
      found++;
      const output = coinsToSatoshis(String(best?.best?.output));
      expect(outputs.filter((other) => other > output)).toEqual([]);
      expect(outputs).toContain(output);
      expect(calls()).toBeLessThanOrEqual(24);
    }),
    { numRuns: RUNS },
  );
  expect(found).toBeGreaterThan(RUNS / 2);
});
