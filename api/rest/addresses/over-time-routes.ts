/** Addresses over time: balance by day, rewards by month, and the chains that know them. */
import { SECONDS_PER_DAY, utcDate, utcDay } from '../../../domain/time.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { chainParameter, formatParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins } from '../../http/values.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { addressParameter, resolveAddress } from '../../state/addresses.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { identityNames } from '../../state/identity-names.ts';
import { type Period, periodsOf } from '../../state/periods.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { addressChains, balanceSeries, monthlyRewards } from './schema.ts';

const dateOf = ({ start }: Period) => utcDate(start);

/** Balances at each of the heights $4; heights before the first change have no row. */
const BALANCES_SQL = `SELECT at.height, held.balance, held.received::text AS received FROM unnest($4::integer[]) AS at(height)
  CROSS JOIN LATERAL (SELECT balance, received FROM balances
    WHERE chain = $1 AND address = $2 AND currency_id = $3 AND from_height <= at.height ORDER BY from_height DESC LIMIT 1) AS held`;

const readBalance = rowReader({ height: columns.number, balance: columns.bigint, received: columns.text });

const series = stateRoute({
  path: '/api/address/:addr/series',
  summary: 'Balance of an address in a currency at the end of each UTC day; a day without a block has no row',
  parameters: {
    addr: addressParameter,
    chain: chainParameter,
    currency: queryParameter("i-address or name; the chain's own coin by default", writtenName),
    days: queryParameter('Days back from the newest block, the day of that block included', {
      type: 'integer',
      minimum: 1,
      maximum: 3650,
      default: 30,
    }),
    ...formatParameter,
  },
  response: balanceSeries,
  rows: { member: 'data' },
  weight: 2,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const address = resolveAddress(api.chain(chain), params.addr);
    const currencies = await api.currencies.of(read);
    const written = params.currency ?? api.currencies.nativeId(api.chain(chain));
    const { currencyId, fullyQualifiedName } = findCurrency(currencies, api, chain, written, 'currency');
    const today = utcDay(read.state.derived.get(chain)?.clock ?? 0);
    const since = Math.max(0, today - params.days + 1) * SECONDS_PER_DAY;
    const days = (await periodsOf(read, api, chain, 'day')).filter(({ start }) => start >= since);
    const heights = days.map(({ height }) => height);
    const rows = await read.rows(readBalance, BALANCES_SQL, [chain, address, currencyId, heights]);
    const heldAt = new Map(rows.map((row) => [row.height, row]));
    return {
      address,
      chain,
      currencyId,
      currencyName: fullyQualifiedName,
      days: params.days,
      data: days.map((day) => {
        const held = heldAt.get(day.height);
        const received = coins(BigInt(held?.received ?? '0'));
        return { date: dateOf(day), height: day.height, balance: coins(held?.balance ?? 0n), received };
      }),
    };
  },
});

/** Rewards by kind and by the months that begin after the heights $3. */
const REWARDS_SQL = `SELECT width_bucket(height, $3::integer[]) AS month, kind, count(*) AS count, sum(amount)::text AS total
  FROM rewards WHERE chain = $1 AND address = $2 GROUP BY month, kind`;

const REWARD_KINDS = ['mining', 'staking'] as const;
const readSum = rowReader({
  month: columns.number,
  kind: columns.choice(REWARD_KINDS),
  count: columns.bigint,
  total: columns.text,
});

const rewards = stateRoute({
  path: '/api/address/:addr/rewards/months',
  summary: 'Mining and staking rewards of an address by UTC month, newest first; a month without a reward has no row',
  parameters: { addr: addressParameter, chain: chainParameter, ...formatParameter },
  response: monthlyRewards,
  rows: { member: 'data' },
  weight: 2,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const address = resolveAddress(api.chain(chain), params.addr);
    const months = await periodsOf(read, api, chain, 'month');
    const firstHeights = months.slice(0, -1).map(({ height }) => height + 1);
    const sums = await read.rows(readSum, REWARDS_SQL, [chain, address, firstHeights]);
    const sumOf = (month: number, kind: (typeof REWARD_KINDS)[number]) => {
      const sum = sums.find((row) => row.month === month && row.kind === kind);
      return { count: Number(sum?.count ?? 0n), total: coins(BigInt(sum?.total ?? '0')) };
    };
    const rewarded = [...months.entries()].filter(([index]) => sums.some(({ month }) => month === index)).reverse();
    return {
      address,
      chain,
      data: rewarded.map(([index, month]) => ({
        month: dateOf(month).slice(0, 7),
        mining: sumOf(index, 'mining'),
        staking: sumOf(index, 'staking'),
      })),
    };
  },
});

/** First and last activity of the addresses $2, each on the chain at the same place of $1, in that order. */
const CHAINS_SQL = `SELECT asked.chain, asked.address, first.height AS first_height, last.height AS last_height, b.time AS last_time
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(chain, address, place)
  CROSS JOIN LATERAL (SELECT height FROM address_activity WHERE chain = asked.chain AND address = asked.address
    ORDER BY height LIMIT 1) AS first
  CROSS JOIN LATERAL (SELECT height FROM address_activity WHERE chain = asked.chain AND address = asked.address
    ORDER BY height DESC LIMIT 1) AS last
  JOIN blocks b ON b.chain = asked.chain AND b.height = last.height ORDER BY asked.place`;

const readKnown = rowReader({
  chain: columns.text,
  address: columns.text,
  first_height: columns.number,
  last_height: columns.number,
  last_time: columns.bigint,
});

async function nameOn(read: Snapshot, chain: string, address: string): Promise<string | null> {
  return (await identityNames(read, [chain], [address])).get(address)?.name ?? null;
}

async function knownChains(read: Snapshot, api: ApiContext, text: string) {
  const { chains } = api.config;
  const addresses = chains.map((chain) => resolveAddress(chain, text));
  const rows = await read.rows(readKnown, CHAINS_SQL, [chains.map(({ name }) => name), addresses]);
  return Promise.all(
    rows.map(async (row) => ({
      chain: row.chain,
      address: row.address,
      name: await nameOn(read, row.chain, row.address),
      firstHeight: row.first_height,
      lastHeight: row.last_height,
      lastTime: Number(row.last_time),
    })),
  );
}

const chains = stateRoute({
  path: '/api/address/:addr/chains',
  summary: 'The chains on which an address is known',
  parameters: { addr: addressParameter },
  response: addressChains,
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    return { query: params.addr, results: await knownChains(read, api, params.addr) };
  },
});

export const addressOverTimeRoutes = [series, rewards, chains];
