/**
 * What both stores hold, as one line of text a row that both can print alike. `line` and `height` are SQL of the store;
 * `$1`/{chain:String} is the chain, `$2`/{height:UInt32} the newest height compared.
 */

export interface StoreRows {
  readonly line: string;
  readonly height: string;
  /** FROM and WHERE. */
  readonly from: string;
}

export interface AuditedTable {
  readonly name: string;
  readonly postgres: StoreRows;
  readonly clickhouse: StoreRows;
}

const pg = (...columns: string[]) => `concat_ws('|', ${columns.map((c) => `coalesce(${c}::text, '')`).join(', ')})`;
const ch = (...columns: string[]) =>
  `concatWithSeparator('|', ${columns.map((c) => `ifNull(toString(${c}), '')`).join(', ')})`;

const pgUpTo = (table: string, height: string) => `FROM ${table} WHERE chain = $1 AND ${height} <= $2`;
const chUpTo = (table: string, height = 'height') =>
  `FROM ${table} WHERE chain = {chain:String} AND ${height} <= {height:UInt32}`;

const usd = (column: string) => `if(isNull(${column}), '', toDecimalString(assumeNotNull(${column}), 38))`;

export const AUDITED_TABLES: readonly AuditedTable[] = [
  {
    name: 'blocks',
    postgres: {
      line: pg(
        'height',
        "encode(hash, 'hex')",
        'time',
        'clock',
        'size',
        'tx_count',
        'validation_type',
        'reward',
        'miner_address',
        'fees',
        'stake_amount',
      ),
      height: 'height',
      from: pgUpTo('blocks', 'height'),
    },
    clickhouse: {
      line: ch(
        'height',
        'hash',
        'toUnixTimestamp(time)',
        'toUnixTimestamp(clock)',
        'size',
        'tx_count',
        'validation_type',
        'reward',
        'miner_address',
        'fees',
        'stake_amount',
      ),
      height: 'height',
      from: chUpTo('blocks'),
    },
  },
  {
    name: 'transactions',
    postgres: {
      line: pg('height', 'tx_index', "encode(txid, 'hex')", 'kind', 'fee', 'size'),
      height: 'height',
      from: pgUpTo('transactions', 'height'),
    },
    clickhouse: {
      line: ch('height', 'tx_index', 'txid', 'kind', 'fee', 'size'),
      height: 'height',
      from: chUpTo('transactions'),
    },
  },
  {
    name: 'native address activity',
    postgres: {
      line: pg('address', 'height', 'tx_index', "encode(txid, 'hex')", 'received', 'sent'),
      height: 'height',
      from: `${pgUpTo('address_activity', 'height')} AND (received <> 0 OR sent <> 0)`,
    },
    clickhouse: {
      line: ch('address', 'height', 'tx_index', 'txid', 'received', 'sent'),
      height: 'height',
      from: `${chUpTo('address_deltas')} AND currency_id = {native:String} AND (received <> 0 OR sent <> 0)`,
    },
  },
  {
    name: 'token address activity',
    postgres: {
      line: pg('address', 'height', 'tx_index', "encode(txid, 'hex')", 'key', 'value'),
      height: 'height',
      from: `FROM address_activity, jsonb_each_text(currencies) WHERE chain = $1 AND height <= $2 AND currencies IS NOT NULL`,
    },
    clickhouse: {
      line: ch('address', 'height', 'tx_index', 'txid', 'currency_id', 'received - sent'),
      height: 'height',
      from: `${chUpTo('address_deltas')} AND currency_id <> {native:String} AND received <> sent`,
    },
  },
  {
    name: 'currency states',
    postgres: {
      line: pg(
        'currency_id',
        'from_height',
        'tx_index',
        'vout',
        'flags',
        'supply',
        `(SELECT string_agg(concat_ws(',', r->>'currencyId', r->>'weight', r->>'reserves'), ';' ORDER BY n) FROM jsonb_array_elements(reserves) WITH ORDINALITY AS t(r, n))`,
      ),
      height: 'from_height',
      from: pgUpTo('currency_states', 'from_height'),
    },
    clickhouse: {
      line: ch(
        'currency_id',
        'height',
        'tx_index',
        'vout',
        'flags',
        'supply',
        `arrayStringConcat(arrayMap((c, w, r) -> concat(c, ',', toString(w), ',', toString(r)), reserve_ids, weights, reserves), ';')`,
      ),
      height: 'height',
      from: chUpTo('currency_states'),
    },
  },
  {
    name: 'stakes',
    postgres: {
      line: pg('height', "encode(stake_txid, 'hex')", 'stake_address', 'stake_reward_address', 'stake_amount'),
      height: 'height',
      from: `${pgUpTo('blocks', 'height')} AND stake_txid IS NOT NULL`,
    },
    clickhouse: {
      line: ch('height', 'txid', 'address', 'reward_address', 'amount'),
      height: 'height',
      from: chUpTo('stakes'),
    },
  },
];

/** Settled conversions with their stamps follow the price stage, so they are compared up to its height and tick. */
export const AUDITED_CONVERSIONS: AuditedTable = {
  name: 'stamped conversions',
  postgres: {
    line: pg(
      's.generation',
      "encode(t.txid, 'hex')",
      't.vout',
      't.kind',
      't.status',
      't.from_currency_id',
      't.to_currency_id',
      't.via_currency_id',
      't.amount_in',
      't.amount_out',
      't.conversion_fee',
      't.import_height',
      's.from_usd',
      's.to_usd',
      's.usd_value',
      's.rule',
      's.regime',
      's.reason',
    ),
    height: 't.import_height',
    from: `FROM stamps s JOIN transfers t USING (chain, txid, vout) WHERE chain = $1 AND t.to_height IS NULL AND t.import_height <= $2 AND s.tick <= $3`,
  },
  clickhouse: {
    line: ch(
      'generation',
      'txid',
      'vout',
      'kind',
      'status',
      'from_currency_id',
      'to_currency_id',
      'via_currency_id',
      'amount_in',
      'amount_out',
      'conversion_fee',
      'import_height',
      usd('from_usd'),
      usd('to_usd'),
      usd('usd_value'),
      'rule',
      'regime',
      'reason',
    ),
    height: 'import_height',
    from: `${chUpTo('conversions', 'import_height')} AND tick <= {tick:UInt64}`,
  },
};
