/** The audited tables of facts, generated from the definitions. */
import { type Definition, type FieldHistory, isMade } from '../../schemas/facts/definition.ts';
import { columnName, type Fields, fieldAt, type ListField } from '../../schemas/facts/fields.ts';
import { FACTS } from '../../schemas/facts.ts';
import { type AuditedTable, auditedTable, type Column, clickhouseRange, hex, postgresRange } from './audited-tables.ts';

/** Tables whose rows are more than fields of the fact in one of the stores: the lines that both stores can print. */
const MADE: Readonly<Record<string, AuditedTable>> = {
  'native deltas': auditedTable({
    name: 'native deltas',
    columns: ['address', 'height', 'tx_index', hex('txid'), 'received', 'sent'],
    height: ['height', 'height'],
    from: [
      `${postgresRange('address_activity', 'height')} AND (received <> 0 OR sent <> 0)`,
      `${clickhouseRange('address_deltas')} AND currency_id = {native:String} AND (received <> 0 OR sent <> 0)`,
    ],
  }),
  'token deltas': auditedTable({
    name: 'token deltas',
    columns: ['address', 'height', 'tx_index', hex('txid'), ['key', 'currency_id'], ['value', 'received - sent']],
    height: ['height', 'height'],
    from: [
      `FROM address_activity, jsonb_each_text(currencies) WHERE chain = $1 AND height BETWEEN $2 AND $3`,
      `${clickhouseRange('address_deltas')} AND currency_id <> {native:String} AND received <> sent`,
    ],
  }),
  stakes: auditedTable({
    name: 'stakes',
    columns: [
      'height',
      ["encode(stake_txid, 'hex')", 'txid'],
      ['stake_address', 'address'],
      ['stake_reward_address', 'reward_address'],
      ['stake_amount', 'amount'],
    ],
    height: ['height', 'height'],
    from: [`${postgresRange('blocks', 'height')} AND stake_txid IS NOT NULL`, clickhouseRange('stakes')],
  }),
};

/** Tables of `derive`: the columns of each history that Postgres also has, in the history's order. */
export const FACT_TABLES: readonly AuditedTable[] = FACTS.flatMap((definition) =>
  definition.clickhouse.flatMap((history) =>
    isMade(history) ? history.audited.map(madeTable) : fieldTable(definition, history),
  ),
);

function madeTable(name: string): AuditedTable {
  const made = MADE[name];
  if (!made)
    throw new TypeError(`a history is audited as ${name}, which pipeline/audit/audited-facts.ts does not define`);
  return made;
}

function fieldTable({ type, fields, key, postgres }: Definition, history: FieldHistory): AuditedTable[] {
  if (history.audited === null) return [];
  if (!postgres || postgres.life === 'end') throw new TypeError(`a ${type} is audited but has no rows in Postgres`);
  const isState = postgres.life !== 'event';
  const height = isState ? 'from_height' : 'height';
  // The kept digests are digests of these lines, so their format must not change: first the key of a state, then the height.
  const leading: readonly string[] = isState && key ? key : [];
  const columns = (paths: readonly string[]): Column[] => paths.flatMap((path) => fieldColumn(fields, path));
  return [
    auditedTable({
      name: history.audited,
      columns: [
        ...columns(leading),
        isState ? [height, 'height'] : height,
        ...columns(history.fields.filter((path) => !leading.includes(path))),
      ],
      height: [height, 'height'],
      from: [postgresRange(postgres.table, height), clickhouseRange(history.table)],
    }),
  ];
}

/** Returns no column for a numeral, which is a double in ClickHouse: the stores print it differently. */
function fieldColumn(fields: Fields, path: string): Column[] {
  const column = path.split('.').map(columnName).join('_');
  const field = fieldAt(fields, path);
  switch (field.sort) {
    case 'text':
    case 'choice':
    case 'json':
    case 'integer':
    case 'satoshis':
      return [column];
    case 'hash':
      return [hex(column)];
    case 'seconds':
      return [[column, `toUnixTimestamp(${column})`]];
    case 'numeral':
      return [];
    case 'list':
      return [listColumn(column, field)];
    case 'texts':
    case 'choices':
    case 'amounts':
    case 'flows':
    case 'sum':
    case 'detail':
      throw new TypeError(`the stores print ${path} differently: give its fact a history with lines of its own`);
    default:
      throw new TypeError(`unknown field: ${field satisfies never}`);
  }
}

/** Prints the arrays of a list entry by entry: `a,b,c;a,b,c`. */
function listColumn(column: string, { arrays, members }: ListField): Column {
  const held = Object.entries(arrays);
  const printed = held.map(([, member], at) => (members[member]?.sort === 'text' ? `v${at}` : `toString(v${at})`));
  return [
    `SELECT string_agg(concat_ws(',', ${held.map(([, member]) => `r->>'${member}'`).join(', ')}), ';' ORDER BY n)
       FROM jsonb_array_elements(${column}) WITH ORDINALITY AS t(r, n)`,
    `arrayStringConcat(arrayMap((${held.map((_, at) => `v${at}`).join(', ')}) -> concat(${printed.join(`, ',', `)}), ${held
      .map(([array]) => array)
      .join(', ')}), ';')`,
  ];
}
