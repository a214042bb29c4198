/** The tables whose content follows from the log, by the stage that fills them. */
import { CLICKHOUSE_TABLES } from '../sinks/clickhouse/tables.ts';
import { POSTGRES_TABLES } from '../sinks/postgres/tables.ts';

export interface DigestTable {
  readonly store: 'postgres' | 'clickhouse';
  readonly name: string;
}

export const DERIVE_TABLES: readonly DigestTable[] = [
  ...POSTGRES_TABLES.map(({ name }) => ({ store: 'postgres' as const, name })),
  ...CLICKHOUSE_TABLES.map(({ name }) => ({ store: 'clickhouse' as const, name })),
];

export const PRICE_TABLES: readonly DigestTable[] = [
  { store: 'postgres', name: 'prices' },
  { store: 'postgres', name: 'stamps' },
  { store: 'postgres', name: 'backfill_prices' },
  { store: 'clickhouse', name: 'prices' },
  { store: 'clickhouse', name: 'conversions' },
];

/** Columns about the source of a row: they differ after another sequence of rewinds, or after stamping again. */
export const PLACE_COLUMNS: readonly string[] = ['position', 'tick', 'facts_position', 'generation'];

export const tableName = ({ store, name }: DigestTable): string => `${store}.${name}`;
