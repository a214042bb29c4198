/** Every table in Postgres whose rows are removed with their blocks. Writes and rewinds are generated from these lists only. */
import { type FactColumn, factColumns } from '../../../infra/postgres/fact-columns.ts';
import type { Definition } from '../../../schemas/facts/definition.ts';
import { FACTS, type FactType } from '../../../schemas/facts.ts';
import type { EndingTable, PostgresTable } from './table.ts';

export const POSTGRES_TABLES: readonly PostgresTable[] = FACTS.flatMap(tableOf);

/** Tables with rows of other stages about current blocks. */
export const WITH_BLOCKS: readonly { readonly life: 'event'; readonly name: string }[] = [
  { life: 'event', name: 'fact_digests' },
];

function tableOf(definition: Definition<FactType>): PostgresTable[] {
  const { type: fact, postgres } = definition;
  switch (postgres?.life) {
    case undefined:
    case 'end':
      return [];
    case 'event':
      return [{ life: 'event', name: postgres.table, fact, columns: factColumns(definition.fields) }];
    case 'versions': {
      const order = factColumns(pick(definition, postgres.order)).map(({ name }) => name);
      return [{ life: 'versions', name: postgres.table, fact, ...keyAndColumns(definition), order }];
    }
    case 'series': {
      const { table: name, rows, newest } = postgres;
      return [{ life: 'series', name, rows, newest, fact, ...keyAndColumns(definition) }];
    }
    case 'ending':
      return [{ life: 'ending', name: postgres.table, fact, ...keyAndColumns(definition), ...endOf(fact) }];
    default:
      throw new TypeError(`unknown life of rows: ${postgres satisfies never}`);
  }
}

function keyAndColumns(definition: Definition): { readonly key: FactColumn[]; readonly columns: FactColumn[] } {
  const { type, key, fields } = definition;
  if (!key) throw new TypeError(`a ${type} has no key, so no row of it can end`);
  const others = Object.keys(fields).filter((name) => !(key as readonly string[]).includes(name));
  return { key: factColumns(pick(definition, key)), columns: factColumns(pick(definition, others)) };
}

/** Finds the one definition that ends the rows of a fact. */
function endOf(type: FactType): Pick<EndingTable, 'endedBy' | 'endKey' | 'endColumns'> {
  const [end] = FACTS.filter(({ postgres }) => postgres?.life === 'end' && postgres.of === type);
  if (!end) throw new TypeError(`no fact ends a ${type}: rows of life 'ending' need one`);
  const { key: endKey, columns: endColumns } = keyAndColumns(end);
  return { endedBy: end.type, endKey, endColumns };
}

function pick({ type, fields }: Definition, names: readonly string[]): Definition['fields'] {
  const picked = names.map((name) => {
    const field = fields[name];
    if (!field) throw new TypeError(`a ${type} has no field ${name}`);
    return [name, field] as const;
  });
  return Object.fromEntries(picked);
}
