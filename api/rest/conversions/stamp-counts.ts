/** Counts, by chain, the conversions with a stamp of the served generation, and those whose stamp has no value, by reason. */
import { REGIMES, type Regime, UNPRICED_REASONS, type UnpricedReason } from '../../../domain/stamps.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import type { PricedRows } from '../../state/priced-rows.ts';
import type { ServiceState } from '../../state/service-state.ts';

/** One pass over narrow columns; `unpriced` is empty for stamps with a value. */
const countsSql = (
  rows: PricedRows,
) => `SELECT chain, regime, if(rule = 'unpriced', reason, '') AS unpriced, count() AS stamped,
    countIf(status = 'completed') AS completed
  FROM ${rows.of('conversions', 'chain, regime, rule, reason, status', 'true')} GROUP BY chain, regime, unpriced`;

const readCounts = rowReader({
  chain: columns.text,
  regime: columns.choice(REGIMES),
  unpriced: columns.choice([...UNPRICED_REASONS, '']),
  stamped: columns.text,
  completed: columns.text,
});

export interface StampCounts {
  /** Completed conversions of all chains. */
  readonly completed: number;
  ofChain(chain: string): {
    readonly conversionsStamped: Readonly<Record<Regime, number>>;
    readonly conversionsUnpriced: Readonly<Record<Regime, Readonly<Record<UnpricedReason, number>>>>;
  };
}

/** Memoized while the state of the service is the same. */
export async function stampCounts(api: ApiContext, { tag }: ServiceState, priced: PricedRows): Promise<StampCounts> {
  const rows = await api.memo.get('stamp counts', tag, () =>
    api.clickhouse.rows(readCounts, countsSql(priced), priced.params),
  );
  const sum = (of: readonly RowRead<typeof readCounts>[], column: 'stamped' | 'completed') =>
    of.reduce((total, row) => total + Number(row[column]), 0);
  return {
    completed: sum(rows, 'completed'),
    ofChain(chain) {
      const own = rows.filter((row) => row.chain === chain);
      const stamped = (regime: Regime) => own.filter((row) => row.regime === regime);
      const unpriced = (regime: Regime, reason: UnpricedReason) =>
        sum(
          stamped(regime).filter((row) => row.unpriced === reason),
          'stamped',
        );
      return {
        conversionsStamped: byName(REGIMES, (regime) => sum(stamped(regime), 'stamped')),
        conversionsUnpriced: byName(REGIMES, (regime) =>
          byName(UNPRICED_REASONS, (reason) => unpriced(regime, reason)),
        ),
      };
    },
  };
}

function byName<Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
}
