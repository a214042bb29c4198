/** Schemas of statistics of the network and of the service. */

import { REGIMES, UNPRICED_REASONS } from '../../../domain/stamps.ts';
import { AUDIT_STATES } from '../../../schemas/audit-report.ts';
import {
  array,
  boolean,
  coins,
  hash,
  height,
  integer,
  isoDate,
  isoTime,
  type JsonSchema,
  nullable,
  nullableCoins,
  nullableInteger,
  nullableNumber,
  nullableString,
  object,
  string,
  unixTime,
} from '../../schema/json-schema.ts';
import { marksMember } from '../../schema/marks.ts';
import { provisionalMembers } from '../../schema/provisional.ts';
import { blockRow } from '../blocks/schema.ts';
import { CHART_METRICS, CHART_STEPS } from './chart-metrics.ts';

const fraction = { ...nullableNumber, minimum: 0, maximum: 1 } as const;

const mining = {
  difficulty: {
    ...nullableNumber,
    description: 'Difficulty of the next proof-of-work block; null while the daemon has not answered',
  },
  hashRate: { ...nullableNumber, description: 'Hashes a second over 120 blocks' },
  stakingSupply: { ...nullableCoins, description: 'Coins that stake, estimated over 100 blocks' },
  stakingParticipation: { ...fraction, description: 'stakingSupply ÷ circulatingSupply' },
  figuresAt: {
    ...isoTime,
    type: ['string', 'null'],
    description:
      'When the daemon last reported difficulty, hashRate, stakingSupply and connections, which the service polls in the background; null before the first report',
  },
} as const;

export const networkStats = object({
  chain: string,
  height,
  avgBlockTime: { ...nullableNumber, description: 'Seconds, over 100 blocks' },
  posRatio: { ...fraction, description: 'Staked blocks of the last 1,000' },
  powRatio: fraction,
  ...mining,
  circulatingSupply: { ...nullableCoins, description: 'All coins issued, shielded ones included' },
  inPools: { ...coins, description: 'Native coins in live baskets of this chain' },
});

export const networkAtHeight = object({
  chain: string,
  height,
  hash,
  time: unixTime,
  difficulty: { type: 'number', description: 'Difficulty of the block' },
  chainWork: { type: 'string', description: 'Hex' },
  chainStake: { type: 'string', description: 'Hex' },
  hashRate: { ...nullableNumber, description: 'Hashes a second over 120 blocks' },
  avgBlockTime: { ...nullableNumber, description: 'Seconds, over 100 blocks' },
  posRatio: { ...fraction, description: 'Staked blocks of the last 1,000' },
  powRatio: fraction,
  feePool: { ...nullableCoins, description: 'Content of the fee pool; null before there is one' },
  transparentSupply: { ...nullableCoins, description: 'Coins in unspent outputs' },
  shieldedSupply: nullableCoins,
  circulatingSupply: { ...nullableCoins, description: 'Sum of transparentSupply and shieldedSupply' },
  inPools: { ...coins, description: 'Native coins in baskets of this chain that were live' },
});

export const CHART_PERIODS = ['7d', '30d', '90d', '1y', 'all'] as const;

export const chart = object({
  chain: string,
  metric: {
    type: 'string',
    enum: CHART_METRICS,
    description:
      'difficulty: the mean; hashrate: hashes a second, the work of the step divided by its time; stakingSupply: coins that stake, the mean over the blocks; ' +
      'stakers: addresses that won a stake; blockTime: seconds; identities: registered ones; fees: network fees, coins',
  },
  period: { type: 'string', enum: CHART_PERIODS },
  step: { type: 'string', enum: CHART_STEPS },
  ...provisionalMembers,
  ...marksMember,
  data: array(
    object({
      date: isoDate,
      timestamp: { ...unixTime, description: 'Start of the step, seconds since the epoch' },
      value: { type: 'number' },
    }),
    'The last step ends at the newest block; a mean has no row for a step without blocks. A sum or count has a row for each step from the first block of the period, or for `all` from its first value that is not 0',
  ),
});

const pulseTip = object({ height, hash: string, time: unixTime, txCount: integer, validationType: string });
export const pulse = object({
  chains: { type: 'object', additionalProperties: pulseTip },
  blocks: { ...array(blockRow), description: 'The newest 20 of all chains' },
  newest: { type: 'object', additionalProperties: array(blockRow), description: 'The newest 7 of each chain' },
});

const found = {
  foundAt: isoTime,
  lasts: { ...boolean, description: 'Whether it still existed at checkedAt' },
} as const;
const mismatch = object({
  table: string,
  height: { ...height, description: 'First height at which Postgres and ClickHouse differ' },
  ...found,
});
const violation = object({
  invariant: string,
  height: { ...height, description: 'First height at which the invariant is violated' },
  currencyId: string,
  reserveId: { ...nullableString, description: 'Reserve currency of a basket, if the invariant is about one' },
  excess: { ...string, description: 'Deviation in satoshis; positive: too much' },
  ...found,
});
const audit = object({
  state: { type: 'string', enum: AUDIT_STATES },
  checkedHeight: { ...nullableInteger, description: 'Up to this height both stores have the same facts' },
  stampsCheckedHeight: {
    ...nullableInteger,
    description: 'Up to this height both stores have the same conversions with stamps',
  },
  digest: {
    ...nullableString,
    description: 'Digest of all facts up to checkedHeight; it includes the digest of the previous height',
  },
  checkedAt: isoTime,
  lastMismatch: nullable(mismatch),
  lastViolation: nullable(violation),
});

const count = { type: 'integer', minimum: 0 } as const;
const counts = <const N extends string, S extends JsonSchema>(names: readonly N[], of: S) =>
  object(Object.fromEntries(names.map((name) => [name, of])) as Record<N, S>);

const chainStatus = object({
  height: nullableInteger,
  indexedHeight: nullableInteger,
  lag: nullableInteger,
  ...mining,
  connections: nullableInteger,
  deadLetters: { ...integer, description: 'Parts of blocks that could not be decoded' },
  healthy: { ...boolean, description: 'Whether /api/health/ready of this chain answers 200' },
  conversionsStamped: {
    ...counts(REGIMES, count),
    description:
      'Settled conversions of this chain that have a stamp of the served generation, by its regime; provisional ones count',
  },
  conversionsUnpriced: {
    ...counts(REGIMES, counts(UNPRICED_REASONS, count)),
    description: 'Stamped conversions without a USD value, by regime and by the reason of their stamp',
  },
  conversionsWithoutStamp: {
    ...nullableInteger,
    minimum: 0,
    description:
      'Completed and refunded conversions in blocks that the served prices have passed, but without a stamp: 0 when all is well. ' +
      'As of the last audit, null before the first audit',
  },
  audit: { ...nullable(audit), description: 'Null before the first audit' },
});
export const serviceStatus = object({
  verusd: object({ chainHeight: nullableInteger, connections: nullableInteger }),
  data: object({
    addresses: integer,
    conversionsTotal: { ...integer, description: 'Completed conversions with a stamp; provisional ones count' },
    transactions: integer,
    ...provisionalMembers,
  }),
  indexer: object({ updatedAt: { ...isoTime, type: ['string', 'null'] }, state: nullableString }),
  chains: { type: 'object', additionalProperties: chainStatus },
});
