/** Every table that `derive` writes in ClickHouse: immutable events with the height and position of their block. */

import type { CsvValue } from '../../../infra/clickhouse/csv.ts';
import { historyColumns } from '../../../infra/clickhouse/fact-columns.ts';
import { type Definition, type FieldHistory, isMade, type MadeHistory } from '../../../schemas/facts/definition.ts';
import { FACTS, type FactType } from '../../../schemas/facts.ts';
import type { FactsByType } from '../facts-by-type.ts';

export interface ClickHouseTable {
  readonly name: string;
  readonly columns: readonly string[];
  rows(chain: string, nativeCurrencyId: string, facts: FactsByType): Iterable<readonly CsvValue[]>;
}

type Values = Readonly<Record<string, unknown>>;

/** Each table also has the columns chain, height and position. */
export const CLICKHOUSE_TABLES: readonly ClickHouseTable[] = FACTS.flatMap((definition) =>
  definition.clickhouse.map((history) =>
    isMade(history) ? madeTable(definition, history) : fieldTable(definition, history),
  ),
);

function fieldTable({ type, fields }: Definition<FactType>, history: FieldHistory): ClickHouseTable {
  const columns = history.fields.flatMap((path) => historyColumns(fields, path));
  const blockTime = history.timed ? ['time'] : [];
  return {
    name: history.table,
    columns: ['chain', 'height', ...blockTime, ...columns.map(({ name }) => name), 'position'],
    *rows(chain, _, facts) {
      for (const { fact, at } of facts.of(type)) {
        const row: CsvValue[] = [chain, at.height];
        if (history.timed) row.push(at.block.time);
        for (const column of columns) row.push(column.of(fact as unknown as Values));
        row.push(at.position);
        yield row;
      }
    },
  };
}

function madeTable({ type }: Definition<FactType>, history: MadeHistory<Values>): ClickHouseTable {
  return {
    name: history.table,
    columns: ['chain', 'height', ...history.columns, 'position'],
    *rows(chain, nativeCurrencyId, facts) {
      for (const { fact, at } of facts.of(type)) {
        const block = { time: at.block.time, nativeCurrencyId };
        for (const row of history.rows(fact as unknown as Values, block)) yield [chain, at.height, ...row, at.position];
      }
    },
  };
}
