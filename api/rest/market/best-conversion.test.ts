import { expect, test } from 'vitest';
import { parseExact, stringifyExact } from '../../../domain/json/exact-json.ts';
import { DaemonRpcError, DaemonUnreachable } from '../../../infra/verusd/daemon-errors.ts';
import { answerOf, readCases } from '../../../recordings/player/recorded-calls.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { bestConversion, estimateConversion } from './best-conversion.ts';
import type { LiveBasket } from './live-baskets.ts';

const RECORDING = new URL('../../../recordings/private-network/', import.meta.url).pathname;
const COIN = 10n ** 8n;

/** Recorded estimates of the daemon, by the request as text. */
const recorded = new Map<string, string>();
for (const one of readCases(RECORDING)) {
  if (!one.name.startsWith('estimateconversion/') || !('body' in one)) continue;
  const answer = answerOf(one.body);
  const [transfer] = (JSON.parse(one.request) as { params: Record<string, unknown>[] }).params;
  if (!('result' in answer) || !transfer || Array.isArray(transfer)) continue;
  const { currency, convertto, via = null, amount } = transfer;
  recorded.set(JSON.stringify([currency, convertto, via, Number(amount)]), answer.result);
}

const names: Readonly<Record<string, string>> = { native: 'VRSCTEST', tri: 'PureTri', usd: 'usdx', eth: 'xeth' };
const currencies = { name: (id: string) => names[id] ?? id } as unknown as Currencies;

const SUPPLY = 1000n * COIN;
const reserve = (currencyId: string, priceInReserve: bigint) => ({
  currencyId,
  weight: COIN / 3n,
  reserves: (SUPPLY * (COIN / 3n) * priceInReserve) / COIN ** 2n,
  priceInReserve,
});
const basket = (currencyId: string, reserves: LiveBasket['reserves']): LiveBasket => ({
  chain: 'vrsc',
  currencyId,
  name: names[currencyId] ?? currencyId,
  supply: SUPPLY,
  liveHeight: 1,
  reserves,
});
/** Prices taken from the recorded estimate for one coin. */
const tri = basket('tri', [reserve('native', 102572484n), reserve('usd', 78096727n), reserve('eth', 69084n)]);

interface Transfer {
  readonly currency: string;
  readonly convertto: string;
  readonly via?: string;
  readonly amount: string;
}

function daemonWith(answer: (transfer: Transfer) => unknown) {
  const asked: Transfer[] = [];
  const call = async (method: string, [transfer]: readonly unknown[]) => {
    expect(method).toBe('estimateconversion');
    asked.push(transfer as Transfer);
    return answer(transfer as Transfer);
  };
  return { asked, call };
}

const fromRecording = ({ currency, convertto, via, amount }: Transfer) => {
  const named = [currency, convertto, via].map((id) => (id === undefined ? null : (names[id] ?? id)));
  const result = recorded.get(JSON.stringify([...named, Number(amount)]));
  if (result === undefined) throw new DaemonRpcError(-8, 'Source currency cannot be converted to destination', '-8');
  return parseExact(result);
};

test.each([
  ['native', 'tri', 10n, '9.75045715', null],
  ['tri', 'usd', 2n, '1.55997196', null],
  ['native', 'usd', 1n, '0.76080374', null],
])('%s to %s: the output is what the daemon estimated', async (from, to, coins, output) => {
  const daemon = daemonWith(fromRecording);
  const best = await bestConversion({ from, to, amount: coins * COIN }, { baskets: [tri], currencies, daemon });
  expect(daemon.asked.length).toBe(1);
  expect(daemon.asked[0]?.via).toBe(from === 'tri' || to === 'tri' ? undefined : 'tri');
  const text = JSON.parse(stringifyExact(best)) as { best: { slippage: number; rate: number }; routes: unknown[] };
  expect(stringifyExact(best)).toContain(`"output":${output}`);
  expect(text.routes.length).toBe(1);
  expect(text.best.rate).toBeCloseTo(Number(output) / Number(coins), 12);
  expect(Math.abs(text.best.slippage)).toBeLessThan(0.01);
});

/** A daemon that deducts a fee of 1 % and converts at a fixed rate for each pair. */
const atRates = (rates: Readonly<Record<string, number>>) => (transfer: Transfer) => {
  const { currency, convertto, via, amount } = transfer;
  const rate = rates[`${currency} ${via ?? '-'} ${convertto}`];
  if (rate === undefined) throw new DaemonRpcError(-8, 'no', '-8');
  const net = Number(amount) * 0.99;
  return parseExact(`{"netinputamount":${net.toFixed(8)},"estimatedcurrencyout":${(net * rate).toFixed(8)}}`);
};

test('a route of two hops comes first when its output is larger', async () => {
  const one = basket('one', [reserve('a', COIN), reserve('m', COIN)]);
  const two = basket('two', [reserve('m', COIN), reserve('z', COIN)]);
  const straight = basket('straight', [reserve('a', COIN), reserve('z', COIN)]);
  const daemon = daemonWith(atRates({ 'a straight z': 0.5, 'a one m': 1, 'm two z': 0.9 }));
  const request = { from: 'a', to: 'z', amount: 100n * COIN };
  const best = await bestConversion(request, { baskets: [one, two, straight], currencies, daemon });
  const printed = JSON.parse(stringifyExact(best)) as {
    routes: { basket: string; via: string | null; hops: number; output: number; fees: { amount: number }[] }[];
  };
  expect(printed.routes.map(({ basket: first, via, hops, output }) => [first, via, hops, output])).toEqual([
    ['one', 'm', 2, 88.209],
    ['straight', null, 1, 49.5],
  ]);
  expect(printed.routes[0]?.fees.map(({ amount }) => amount)).toEqual([1, 0.99]);
  expect(daemon.asked.find(({ convertto, via }) => convertto === 'z' && via === 'two')?.amount).toBe('99.00000000');
});

test('a refusal of the daemon removes the route; a call without an answer is an error', async () => {
  const request = { from: 'native', to: 'tri', amount: 3n * COIN };
  const given = { baskets: [tri], currencies };
  expect(await bestConversion(request, { ...given, daemon: daemonWith(fromRecording) })).toBeNull();
  const dead = daemonWith(() => {
    throw new DaemonUnreachable('gone');
  });
  await expect(bestConversion(request, { ...given, daemon: dead })).rejects.toThrow(DaemonUnreachable);
  expect(await bestConversion({ ...request, to: 'native' }, { ...given, daemon: dead })).toBeNull();
});

test('a basket that fails is left out if another one answers; otherwise its error is thrown', async () => {
  const request = { from: 'a', to: 'z', amount: COIN };
  const good = basket('good', [reserve('a', COIN), reserve('z', COIN)]);
  const bad = basket('bad', [reserve('a', COIN), reserve('z', COIN)]);
  const daemon = daemonWith(({ via, amount }) => {
    if (via === 'bad') throw new DaemonRpcError(-1, 'a fault', '-1');
    return parseExact(`{"netinputamount":${amount},"estimatedcurrencyout":0.5}`);
  });
  const best = await bestConversion(request, { baskets: [bad, good], currencies, daemon });
  expect(best?.routes.map((route) => route.basket)).toEqual(['good']);
  await expect(bestConversion(request, { baskets: [bad], currencies, daemon })).rejects.toThrow(DaemonRpcError);
  await expect(estimateConversion(request, { baskets: [bad], currencies, daemon })).rejects.toThrow(DaemonRpcError);
});

test('an amount that converts to 0 gets the output 0 and is not refused', async () => {
  const daemon = daemonWith(({ amount }) =>
    parseExact(`{"netinputamount":${amount},"estimatedcurrencyout":0.00000000}`),
  );
  const request = { from: 'usd', to: 'eth', amount: 1n };
  const [best, estimate] = [
    await bestConversion(request, { baskets: [tri], currencies, daemon }),
    await estimateConversion(request, { baskets: [tri], currencies, daemon }),
  ];
  expect(stringifyExact(best?.best)).toContain('"output":0.00000000,"rate":0,"slippage":1');
  expect(stringifyExact(estimate)).toContain('"estimatedOut":0.00000000');
});

test('the number of daemon calls is bounded', async () => {
  const many = Array.from({ length: 60 }, (_, n) =>
    basket(`b${n}`, [reserve('a', COIN), reserve('m', COIN), reserve('z', COIN)]),
  );
  const daemon = daemonWith(({ amount }) => parseExact(`{"netinputamount":${amount},"estimatedcurrencyout":1.0}`));
  await bestConversion({ from: 'a', to: 'z', amount: COIN }, { baskets: many, currencies, daemon });
  expect(daemon.asked.length).toBe(12);
});
