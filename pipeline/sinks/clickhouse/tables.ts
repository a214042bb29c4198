/** Every table that `derive` writes in ClickHouse: finished events with the height and position they follow from. */

import type { ReserveBalance } from '../../../domain/reserves.ts';
import type { CsvValue } from '../../../infra/clickhouse/csv.ts';
import type { ActivityFact, FactOf, FactType } from '../../../schemas/facts.ts';
import type { FactsByType, PlacedFact } from '../facts-by-type.ts';

export interface ClickHouseTable {
  readonly name: string;
  readonly columns: readonly string[];
  rows(chain: string, nativeCurrencyId: string, facts: FactsByType): Iterable<readonly CsvValue[]>;
}

interface Definition<T extends FactType> {
  readonly name: string;
  readonly fact: T;
  readonly columns: Readonly<Record<string, (placed: PlacedFact<FactOf<T>>) => CsvValue>>;
  readonly only?: (fact: FactOf<T>) => boolean;
}

/** One row a fact; columns chain, height and position come on top. */
function factTable<T extends FactType>({ name, fact, columns, only }: Definition<T>): ClickHouseTable {
  const values = Object.values(columns);
  return {
    name,
    columns: ['chain', 'height', ...Object.keys(columns), 'position'],
    *rows(chain, _, facts) {
      for (const placed of facts.of(fact)) {
        if (only && !only(placed.fact)) continue;
        yield [chain, placed.at.height, ...values.map((of) => of(placed)), placed.at.position];
      }
    },
  };
}

export const CLICKHOUSE_TABLES: readonly ClickHouseTable[] = [
  factTable({
    name: 'blocks',
    fact: 'block',
    columns: {
      hash: ({ fact }) => fact.hash,
      time: ({ fact }) => fact.time,
      clock: ({ fact }) => fact.clock,
      size: ({ fact }) => fact.size,
      tx_count: ({ fact }) => fact.txCount,
      validation_type: ({ fact }) => fact.validationType,
      difficulty: ({ fact }) => Number(fact.difficulty),
      reward: ({ fact }) => fact.reward,
      miner_address: ({ fact }) => fact.minerAddress ?? '',
      fees: ({ fact }) => fact.fees,
      stake_amount: ({ fact }) => fact.stake?.amount ?? null,
      fee_pool: ({ fact }) => fact.feePool,
      transparent_change: ({ fact }) => fact.transparentChange,
      shielded_supply: ({ fact }) => fact.shieldedSupply,
    },
  }),
  factTable({
    name: 'transactions',
    fact: 'transaction',
    columns: {
      tx_index: ({ fact }) => fact.txIndex,
      time: ({ at }) => at.block.time,
      txid: ({ fact }) => fact.txid,
      kind: ({ fact }) => fact.kind,
      fee: ({ fact }) => fact.fee,
      size: ({ fact }) => fact.size,
    },
  }),
  {
    name: 'address_deltas',
    columns: ['chain', 'height', 'address', 'currency_id', 'tx_index', 'time', 'txid', 'received', 'sent', 'position'],
    *rows(chain, nativeCurrencyId, facts) {
      for (const { fact, at } of facts.of('activity')) {
        for (const [currencyId, { received, sent }] of flows(fact, nativeCurrencyId)) {
          yield [
            chain,
            at.height,
            fact.address,
            currencyId,
            fact.txIndex,
            at.block.time,
            fact.txid,
            received,
            sent,
            at.position,
          ];
        }
      }
    },
  },
  factTable({
    name: 'identity_updates',
    fact: 'identity',
    columns: {
      identity_address: ({ fact }) => fact.identityAddress,
      tx_index: ({ fact }) => fact.txIndex,
      vout: ({ fact }) => fact.vout,
      time: ({ at }) => at.block.time,
      txid: ({ fact }) => fact.txid,
      name: ({ fact }) => fact.name,
      parent: ({ fact }) => fact.parent,
      kind: ({ fact }) => fact.kind,
      flags: ({ fact }) => fact.flags,
      timelock: ({ fact }) => fact.timelock,
      referral: ({ fact }) => fact.referral ?? '',
      changes: ({ fact }) => fact.changes,
      state: ({ fact }) => fact.state,
    },
  }),
  factTable({
    name: 'currency_states',
    fact: 'currency_state',
    columns: {
      currency_id: ({ fact }) => fact.currencyId,
      tx_index: ({ fact }) => fact.txIndex,
      vout: ({ fact }) => fact.vout,
      time: ({ at }) => at.block.time,
      flags: ({ fact }) => fact.flags,
      supply: ({ fact }) => fact.supply,
      ...reserveColumns(),
    },
  }),
  factTable({
    name: 'reserve_snapshots',
    fact: 'reserve_snapshot',
    columns: {
      currency_id: ({ fact }) => fact.currencyId,
      window: ({ fact }) => fact.window,
      state_height: ({ fact }) => fact.stateHeight,
      supply: ({ fact }) => fact.supply,
      ...reserveColumns(),
    },
  }),
  factTable({
    name: 'stakes',
    fact: 'block',
    only: (fact) => fact.stake !== null,
    columns: {
      time: ({ fact }) => fact.time,
      txid: ({ fact }) => fact.stake?.txid ?? '',
      address: ({ fact }) => fact.stake?.address ?? '',
      reward_address: ({ fact }) => fact.stake?.rewardAddress ?? '',
      amount: ({ fact }) => fact.stake?.amount ?? 0n,
    },
  }),
];

interface WithReserves {
  readonly fact: { readonly reserves: readonly ReserveBalance[] };
}

function reserveColumns(): Readonly<
  Record<'reserve_ids' | 'weights' | 'reserves', (placed: WithReserves) => CsvValue>
> {
  return {
    reserve_ids: ({ fact }) => fact.reserves.map(({ currencyId }) => currencyId),
    weights: ({ fact }) => fact.reserves.map(({ weight }) => weight),
    reserves: ({ fact }) => fact.reserves.map(({ reserves }) => reserves),
  };
}

type Flow = ActivityFact['currencies'][string];

/** One by currency that moved; an activity that moved nothing (an identity's output) still leaves its native row. */
function flows(fact: ActivityFact, nativeCurrencyId: string): [string, Flow][] {
  const tokens = Object.entries(fact.currencies);
  const native: [string, Flow] = [nativeCurrencyId, fact];
  return fact.received || fact.sent || tokens.length === 0 ? [native, ...tokens] : tokens;
}
