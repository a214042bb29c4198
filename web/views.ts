/**
 * The table of views: address, content and first calls of each. The page finds its views here, and the server derives titles, previews,
 * links to the JSON and preloads from it.
 */
import { type Call, call, orWithoutMempool } from './calls.ts';
import { partOfIdentity, updatesOf } from './identity-calls.ts';

/** Names of the parts of an address. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export interface View<Part extends string = string, Calls extends readonly Call[] = readonly Call[]> {
  /** `:chain` is the short name of a chain, in lower case. */
  readonly path: string;
  /** A shorter address of the same view on the default chain. */
  readonly short?: string;
  /** The heading of the view, in a few words. */
  title(parts: Readonly<Record<Part, string>>, query: URLSearchParams): string;
  readonly description: string;
  /** Whether the view needs a login. */
  readonly isPrivate?: boolean;
  /** The calls of the first paint. The first call is the JSON of the address; if it returns 404, the view does not exist. */
  calls(parts: Readonly<Record<Part, string>>, query: URLSearchParams): Calls;
}

function view<const Path extends string, const Calls extends readonly Call[]>(
  path: Path,
  rest: Omit<View<Names<Path>, Calls>, 'path'>,
): View<Names<Path>, Calls> & { readonly path: Path } {
  return { path, ...rest };
}

export const ADDRESS_TABS = {
  history: 'History',
  rewards: 'Rewards',
  conversions: 'Conversions',
  balance: 'By day',
} as const;
export const IDENTITY_TABS = { history: 'History', content: 'Content', referrals: 'Referrals' } as const;

/** Keeps both ends of a long id or name, and every character whole. */
export function shortened(id: string): string {
  const characters = [...id];
  return characters.length > 20 ? `${characters.slice(0, 8).join('')}…${characters.slice(-8).join('')}` : id;
}

/** The page or cursor in a list, as the address names it. */
const placeIn = (query: URLSearchParams) => ({ page: query.get('page'), cursor: query.get('cursor') });

/** A transaction in a block or in the mempool. */
const transactionOf = (chain: string, txid: string) =>
  orWithoutMempool(call('/api/tx/{txid}', { path: { txid }, query: { chain, unconfirmed: 'true' } }));

function listOfAddress(chain: string, addr: string, query: URLSearchParams) {
  const parameters = { path: { addr }, query: { chain, pageSize: '50', ...placeIn(query) } };
  switch (query.get('tab')) {
    case 'rewards':
      return call('/api/address/{addr}/rewards', parameters);
    case 'conversions':
      return call('/api/address/{addr}/conversions', parameters);
    case 'balance':
      return call('/api/address/{addr}/series', {
        path: { addr },
        query: { chain, currency: query.get('currency'), days: query.get('days') },
      });
    default:
      return orWithoutMempool(
        call('/api/address/{addr}', { ...parameters, query: { ...parameters.query, unconfirmed: 'true' } }),
      );
  }
}

function figuresOf(chain: string, height: string | null) {
  return height === null
    ? call('/api/stats/network', { query: { chain } })
    : call('/api/stats/network/{height}', { path: { height }, query: { chain } });
}

/** Filters of `/api/conversions/`, all of which the view's address carries, as it does the page of the list. */
const SUMMARY_PARAMETERS = [
  'chain',
  'from',
  'to',
  'basket',
  'status',
  'type',
  'address',
  'minUsd',
  'maxUsd',
  'diverged',
  'fromTime',
  'toTime',
  'fromHeight',
  'toHeight',
  'executedFromTime',
  'executedToTime',
  'executedFromHeight',
  'executedToHeight',
  'sort',
] as const;
export const CONVERSION_PARAMETERS = [...SUMMARY_PARAMETERS, 'pageSize', 'page', 'cursor'] as const;

/** An empty parameter counts as absent. */
function conversionQuery<Name extends string>(query: URLSearchParams, names: readonly Name[]) {
  const given = names.map((name) => [name, query.get(name) || null] as const);
  return Object.fromEntries(given) as Readonly<Record<Name, string | null>>;
}

/** Usage steps in seconds: the length of a step, the span shown first, and the span that is kept. */
export const USAGE_STEPS = {
  minute: { step: 60, first: 3_600, kept: 86_400 },
  hour: { step: 3_600, first: 86_400, kept: 30 * 86_400 },
  day: { step: 86_400, first: 30 * 86_400, kept: 400 * 86_400 },
} as const;
export type UsageStep = keyof typeof USAGE_STEPS;

/** Usage by route is counted only by hour and day. */
export function usageStepOf(query: URLSearchParams, by: 'key' | 'route'): UsageStep {
  const wanted = query.get('step') ?? '';
  const step = Object.hasOwn(USAGE_STEPS, wanted) ? (wanted as UsageStep) : 'minute';
  return by === 'route' && step === 'minute' ? 'hour' : step;
}

/** From the start of a step to the end of the current step, both in seconds since the epoch. */
export function usageSpanOf(query: URLSearchParams, step: UsageStep) {
  const { step: width, first, kept } = USAGE_STEPS[step];
  const to = (Math.floor(Date.now() / 1000 / width) + 1) * width;
  return { from: to - (query.get('span') === 'all' ? kept : first), to };
}

function usageQuery(query: URLSearchParams, by: 'key' | 'route') {
  const step = usageStepOf(query, by);
  // The service counts the first span from its own present: a start that was fixed here would stay behind in a tab that is left open.
  const from = query.get('span') === 'all' ? String(usageSpanOf(query, step).from) : null;
  return { step, by, from, key: query.get('key') || null, limit: '5000' };
}

export const views = {
  live: view('/', {
    title: () => 'Live',
    description: 'Blocks, reorganisations, conversions and prices of the Verus chains as they arrive.',
    calls: () => [call('/api/stats/pulse'), call('/api/stats/status'), call('/api/market/overview')],
  }),
  blocks: view('/:chain/blocks', {
    title: () => 'Blocks',
    description: 'Blocks of the chain, newest first: height, time, work or stake, transactions, size and reward.',
    calls: ({ chain }, query) => [
      call('/api/blocks/', {
        query: { chain, pageSize: '50', validationType: query.get('validationType'), ...placeIn(query) },
      }),
    ],
  }),
  block: view('/:chain/block/:block', {
    title: ({ block }) => `Block ${shortened(block)}`,
    description: 'A block with its miner or staker, its fees, and its transactions by type.',
    calls: ({ chain, block }) => [call('/api/blocks/{height}', { path: { height: block }, query: { chain } })],
  }),
  tx: view('/:chain/tx/:txid', {
    title: ({ txid }) => `Transaction ${shortened(txid)}`,
    description: 'A transaction: what it spent, what it made, and what its conversions were worth.',
    calls: ({ chain, txid }) => [transactionOf(chain, txid)],
  }),

  // Explorer views.
  conversion: view('/:chain/conversion/:txid/:vout', {
    title: ({ txid, vout }) => `Conversion ${shortened(txid)} output ${vout}`,
    description: 'A conversion from its request to its payout, and what it was worth, step by step.',
    calls: ({ chain, txid }, query) => [
      // `in` is the transaction that executed a conversion requested on another system.
      transactionOf(chain, query.get('in') ?? txid),
      call('/api/oracle/conversions/{txid}', { path: { txid }, query: { explain: 'true' } }),
    ],
  }),
  address: view('/:chain/address/:addr', {
    short: '/address/:addr',
    title: ({ addr }) => `Address ${shortened(addr)}`,
    description: 'What an address holds and received, its transactions, rewards and conversions.',
    calls: ({ chain, addr }, query) => [
      call('/api/address/{addr}/balance', { path: { addr }, query: { chain } }),
      listOfAddress(chain, addr, query),
    ],
  }),
  identity: view('/:chain/identity/:name', {
    title: ({ name }) => `Identity ${shortened(name)}`,
    description: 'An identity now and at each of its heights: status, lock, authorities, changes, content, referrals.',
    calls: ({ chain, name }, query) => [
      orWithoutMempool(
        call('/api/identity/{nameOrId}', {
          path: { nameOrId: name },
          // Waiting transactions change the current state only, not the state at a height.
          query: { chain, height: query.get('height'), unconfirmed: query.get('height') === null ? 'true' : null },
        }),
      ),
      updatesOf(chain, name, query),
      partOfIdentity(chain, name, query),
    ],
  }),
  identities: view('/:chain/identities', {
    title: () => 'Identities',
    description: 'Identities of the chain, newest registration first, and how many there are.',
    calls: ({ chain }, query) => [
      call('/api/identity/', {
        query: { chain, pageSize: '50', status: query.get('status'), ...placeIn(query) },
      }),
      call('/api/identity/stats'),
    ],
  }),
  currency: view('/:chain/currency/:id', {
    title: ({ id }) => `Currency ${shortened(id)}`,
    description: 'A currency: its definition in words, its supply, its price, and what it is made of.',
    calls: ({ chain, id }) => [call('/api/currency/{nameOrId}', { path: { nameOrId: id }, query: { chain } })],
  }),
  currencies: view('/:chain/currencies', {
    title: () => 'Currencies',
    description: 'Currencies that are defined on the chain, newest definition first, by kind and launch.',
    calls: ({ chain }, query) => [
      call('/api/currency/', {
        query: {
          chain,
          pageSize: '50',
          type: query.get('type'),
          launch: query.get('launch'),
          ...placeIn(query),
        },
      }),
    ],
  }),
  stakes: view('/:chain/stakes', {
    title: () => 'Stakes',
    description: 'Staked blocks of the chain with the coins that won them, newest first.',
    calls: ({ chain }, query) => [
      call('/api/stakes/', { query: { chain, pageSize: '50', address: query.get('address'), ...placeIn(query) } }),
    ],
  }),
  richlist: view('/:chain/richlist', {
    title: () => 'Rich list',
    description: "The largest holders of the chain's own coin.",
    calls: ({ chain }, query) => [call('/api/richlist/top', { query: { chain, limit: query.get('limit') } })],
  }),
  bridge: view('/:chain/bridge', {
    title: () => 'Bridge',
    description: 'Transfers between the chain and other systems, newest first.',
    calls: ({ chain }, query) => [
      call('/api/bridge/recent', {
        query: {
          chain,
          pageSize: '50',
          direction: query.get('direction'),
          address: query.get('address'),
          ...placeIn(query),
        },
      }),
    ],
  }),
  status: view('/status', {
    title: () => 'Status',
    description: 'The state of the service: its index, its health, and whether its stores agree.',
    calls: () => [call('/api/stats/status'), call('/api/health/ready')],
  }),
  search: view('/search', {
    title: (_, query) => `Search for ${shortened(query.get('q') ?? '')}`,
    description: 'Blocks, transactions, addresses, identities and currencies by what was typed.',
    calls: (_, query) => [call('/api/search/', { query: { q: query.get('q') } })],
  }),
  chain: view('/:chain', {
    title: ({ chain }) => chain,
    description: 'The chain in figures: hash rate, difficulty, staking, supply and block time, and its newest blocks.',
    calls: ({ chain }, query) => [
      figuresOf(chain, query.get('height')),
      call('/api/blocks/', { query: { chain, pageSize: '20' } }),
    ],
  }),

  // Market views.
  market: view('/market', {
    title: () => 'Market',
    description: 'Currencies and baskets of the Verus chains: price, confidence, change, volume and liquidity.',
    calls: () => [
      call('/api/market/currencies'),
      call('/api/market/baskets'),
      call('/api/market/protocol'),
      call('/api/oracle/prices'),
      call('/api/market/volume'),
    ],
  }),
  price: view('/market/price/:id', {
    title: ({ id }) => `Price of ${shortened(id)}`,
    description: 'USD price of a currency: its confidence, the baskets that it comes from, and how it went.',
    calls: ({ id }, query) => [
      call('/api/oracle/prices/{id}', { path: { id } }),
      call('/api/market/prices/{name}/history', { path: { name: id }, query: { days: query.get('days') } }),
    ],
  }),
  basket: view('/market/basket/:basket', {
    title: ({ basket }) => `Basket ${shortened(basket)}`,
    description: 'What a basket holds, now and over time, its weights, supply, price, volume and fees.',
    calls: ({ basket }, query) => [
      call('/api/market/baskets/{id}/reserves', { path: { id: basket }, query: { days: query.get('days') } }),
      call('/api/market/baskets'),
      call('/api/market/baskets/{id}/volume', { path: { id: basket } }),
    ],
  }),
  pair: view('/market/pair/:basket/:base/:quote', {
    title: ({ base, quote }) => `${shortened(base)} / ${shortened(quote)}`,
    description: 'A pair of a basket: its candles, volume, liquidity and trades.',
    calls: ({ basket, base, quote }, query) => [
      call('/api/market/pairs/{basket}/{base}/{quote}/candles', {
        path: { basket, base, quote },
        query: { step: query.get('step') },
      }),
      call('/api/market/pairs'),
    ],
  }),
  conversions: view('/market/conversions', {
    title: () => 'Conversions',
    description: 'Conversions with their USD values, by every filter of the API.',
    calls: (_, query) => [
      call('/api/conversions/', { query: conversionQuery(query, CONVERSION_PARAMETERS) }),
      call('/api/conversions/summary', { query: conversionQuery(query, SUMMARY_PARAMETERS) }),
      call('/api/conversions/filters'),
    ],
  }),
  convert: view('/market/convert', {
    title: () => 'Convert',
    description: 'What a conversion would bring, route by route.',
    calls: () => [call('/api/market/baskets')],
  }),
  pools: view('/market/pools', {
    title: () => 'Pools',
    description: 'Where the native coin is pooled: how much of it each basket holds.',
    calls: () => [call('/api/market/vrsc-pools')],
  }),
  volume: view('/market/volume', {
    title: () => 'Volume',
    description: 'Trade volume in USD by day, week or month.',
    calls: (_, query) => [call('/api/market/volume', { query: { period: query.get('period') } })],
  }),

  // Views for login and account.
  login: view('/login', {
    title: () => 'Log in',
    description: 'Log in as an identity: its wallet signs a message once. There is no password.',
    calls: () => [],
  }),
  account: view('/account', {
    isPrivate: true,
    title: () => 'Account',
    description: 'The logged-in identity, the end of its session, its tier, and its remaining credits.',
    calls: () => [call('/api/auth/session'), call('/api/usage/now')],
  }),
  keys: view('/account/keys', {
    isPrivate: true,
    title: () => 'Keys',
    description: 'API keys of an identity: make, replace and revoke them, and see when each was used.',
    calls: () => [call('/api/keys')],
  }),
  usage: view('/usage', {
    isPrivate: true,
    title: () => 'Usage',
    description: 'Credits that an identity used, by minute, hour and day, by key and by route, and what plans cost.',
    calls: (_, query) => [
      call('/api/usage/now'),
      call('/api/usage', { query: usageQuery(query, 'key') }),
      call('/api/usage', { query: usageQuery(query, 'route') }),
      call('/api/keys'),
    ],
  }),
  webhooks: view('/webhooks', {
    isPrivate: true,
    title: () => 'Webhooks',
    description: 'Webhooks of an identity: register them with any kind and filter, and see their state.',
    calls: () => [call('/api/webhooks')],
  }),
  webhook: view('/webhooks/:id', {
    isPrivate: true,
    title: ({ id }) => `Webhook ${id}`,
    description:
      'A webhook: its deliveries with what was sent and answered, a test, a new secret, and a receiver for it.',
    calls: ({ id }, query) => [
      call('/api/webhooks/{id}', { path: { id } }),
      call('/api/webhooks/{id}/deliveries', {
        path: { id },
        query: { state: query.get('state') || null, before: query.get('before') },
      }),
    ],
  }),
} as const satisfies Readonly<Record<string, View<never>>>;

export type ViewName = keyof typeof views;
