import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { factReader } from '../../infra/postgres/fact-columns.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import type { StoredRow } from '../../infra/row-reader.ts';
import { rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import { DEFINITIONS, definitionOf, type Fact, type FactType } from '../../schemas/facts.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { blockFact } from '../../test/support/pipeline/sinks/made-facts.ts';
import { arbitraryFact } from '../../test/support/schemas/facts/arbitrary-facts.ts';
import { CLICKHOUSE_TABLES } from './clickhouse/tables.ts';
import { factsByType } from './facts-by-type.ts';
import { writeFacts } from './postgres/postgres-sink.ts';
import type { PostgresTable } from './postgres/table.ts';
import { POSTGRES_TABLES } from './postgres/tables.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(async () => {
  await stores.close();
});

const PLACE = ['chain', 'position', 'height', 'from_height', 'to_height'];

function columnsOf(table: PostgresTable): string[] {
  if (table.life === 'event') return table.columns.map(({ name }) => name);
  const ends = table.life === 'ending' ? table.endColumns : [];
  return [...table.key, ...table.columns, ...ends].map(({ name }) => name);
}

describe('the stores have exactly the columns of the definitions', () => {
  it.each(POSTGRES_TABLES.map((table) => [table.fact, table] as const))(
    'schemas/postgres of a %s',
    async (_, table) => {
      const { rows } = await stores.postgres.pool.query<{ column_name: string }>(
        'SELECT column_name FROM information_schema.columns WHERE table_name = $1',
        [table.name],
      );
      const stored = rows.map(({ column_name }) => column_name).filter((name) => !PLACE.includes(name));
      expect(stored.sort(), `table ${table.name} of schemas/postgres`).toEqual(columnsOf(table).sort());
    },
  );

  it.each(CLICKHOUSE_TABLES.map((table) => [table.name, table] as const))(
    'schemas/clickhouse: %s',
    async (name, table) => {
      const rows = await stores.clickhouse.query(
        `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {name:String}`,
        { name },
      );
      expect(rows.map((row) => row.name).sort(), `table ${name} of schemas/clickhouse`).toEqual(
        [...table.columns].sort(),
      );
    },
  );
});

/** Gives each fact its own height, so that none replaces another. */
function placed(facts: readonly Fact[]) {
  return factsByType(
    facts.map((fact, height) => ({ position: height, height, block: blockFact(height), facts: [fact] })),
  );
}

describe('any fact is read from Postgres as it was written', () => {
  const readable = POSTGRES_TABLES.filter(({ fact }) => {
    const { fields } = definitionOf(fact);
    return Object.values(fields).every(({ sort }) => sort !== 'flows');
  });

  it.each(readable.map((table) => [table.fact, table] as const))('%s', async (type, table) => {
    const keys = table.life === 'event' ? ['txid', 'height'] : table.key.map(({ field }) => field);
    const idOf = (fact: Fact) => keys.map((key) => (fact as unknown as StoredRow)[key]).join(':');
    const read: (row: StoredRow) => unknown = factReader<FactType, never>(DEFINITIONS[type] as never);
    const { fields } = definitionOf(type);
    const single = Object.keys(fields).filter((name) => fields[name]?.sort !== 'detail');
    const readColumns = rowReader(storedColumns({ type, fields }, single));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(arbitraryFact(type), { minLength: 1, maxLength: 8, selector: idOf }),
        async (facts) => {
          const chain = `${type} ${round++}`;
          await stores.postgres.transaction((client) => writeFacts(client, chain, placed(facts)));
          const height = table.life === 'event' ? 'height' : 'from_height';
          const { rows } = await stores.postgres.pool.query<Record<string, unknown>>(
            `SELECT * FROM ${table.name} WHERE chain = $1 ORDER BY ${height}`,
            [chain],
          );
          expect(rows.map(read)).toEqual(facts);
          expect(rows.map(readColumns)).toEqual(rows);
        },
      ),
      { numRuns: 20 },
    );
  });
});
