/** Routes that the compiler must refuse: `npm run typecheck` fails when a line after @ts-expect-error compiles. Never run. */
import type { LosslessNumber } from 'lossless-json';
import { listRoute } from '../../api/http/list-route.ts';
import { chainParameter, queryParameter } from '../../api/http/parameters.ts';
import { HeadedValue, liveRoute, stateRoute } from '../../api/http/route.ts';
import { coins } from '../../api/http/values.ts';
import {
  array,
  coins as coinsSchema,
  integer,
  nullable,
  nullableString,
  object,
  openObject,
  page,
  string,
  type Typed,
  withOptional,
} from '../../api/schema/json-schema.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';

const row = object({
  height: integer,
  name: nullableString,
  kind: { type: 'string', enum: ['work', 'stake'] },
  amount: coinsSchema,
  inner: array(object({ n: integer })),
});
type Row = Typed<typeof row>;
declare const read: Row;
declare const text: string;

const state = { path: '/', summary: '', parameters: {}, weight: 1, cache: 'state', scope: 'all' } as const;
const live = { path: '/', summary: '', parameters: {}, weight: 1, cache: 'none' } as const;

const good = { height: 1, name: null, kind: 'work' as const, amount: coins(1n), inner: [{ n: 1 }] };

/** Matching answers compile in every form. */
stateRoute({ ...state, response: row, handler: async () => good });
stateRoute({ ...state, response: row, handler: async () => ({ ...good, kind: 'stake' }) });
stateRoute({ ...state, response: row, handler: async () => new HeadedValue(good, {}) });
stateRoute({ ...state, response: row, handler: async () => async () => good });
stateRoute({ ...state, response: row, settledAt: ({ height }) => height, handler: async () => good });
stateRoute({ ...state, response: openObject({ a: integer }), handler: async () => ({ a: 1, further: 2 }) });
stateRoute({ ...state, response: withOptional(row, { more: string }), handler: async () => good });
stateRoute({ ...state, response: nullable(row), handler: async () => null });
stateRoute({ ...state, response: { anyOf: [row, array(row)] }, handler: async () => [good] });
liveRoute({ ...live, response: row, handler: async () => ({ status: 503, body: good }) });
liveRoute({ ...live, response: row, handler: async () => ({ body: Buffer.from('{}') }) });

// @ts-expect-error a member of another type
stateRoute({ ...state, response: row, handler: async () => ({ ...good, height: '1' }) });
// @ts-expect-error null for a member that is not nullable
stateRoute({ ...state, response: row, handler: async () => ({ ...good, height: null }) });
// @ts-expect-error a text outside the enum
stateRoute({ ...state, response: row, handler: async () => ({ ...good, kind: text }) });
// @ts-expect-error money as a double
stateRoute({ ...state, response: row, handler: async () => ({ ...good, amount: 0.1 }) });
// @ts-expect-error satoshis instead of coins
stateRoute({ ...state, response: row, handler: async () => ({ ...good, amount: 1n }) });
// @ts-expect-error a missing member
stateRoute({ ...state, response: row, handler: async () => ({ height: 1, name: null }) });
// @ts-expect-error a missing member of an optional schema's required part
stateRoute({ ...state, response: withOptional(row, { more: string }), handler: async () => ({ more: '' }) });
// @ts-expect-error a surplus member
stateRoute({ ...state, response: row, handler: async () => ({ ...good, surplus: 1 }) });
// @ts-expect-error a surplus member deep inside
stateRoute({ ...state, response: row, handler: async () => ({ ...good, inner: [{ n: 1, surplus: 1 }] }) });
// @ts-expect-error a surplus member of one branch
stateRoute({ ...state, response: row, handler: async () => (text ? good : { ...good, surplus: 1 }) });
// @ts-expect-error a surplus member next to headers
stateRoute({ ...state, response: row, handler: async () => new HeadedValue({ ...good, surplus: 1 }, {}) });
// @ts-expect-error a surplus member that is made after the snapshot
stateRoute({ ...state, response: row, handler: async () => async () => ({ ...good, surplus: 1 }) });
// @ts-expect-error a page of other rows
stateRoute({ ...state, response: page(row), handler: async () => good });
// @ts-expect-error the height of an answer without a height
stateRoute({ ...state, response: array(row), settledAt: ({ height }) => height, handler: async () => [good] });
// @ts-expect-error another body with another status
liveRoute({ ...live, response: row, handler: async () => (text ? { body: good } : { status: 503, body: {} }) });
// @ts-expect-error a surplus member of a body
liveRoute({ ...live, response: row, handler: async () => ({ body: { ...good, surplus: 1 } }) });

/** Types of parameters and bodies. */
const parameters = { by: queryParameter('', { type: 'string', enum: ['a', 'b'] }) };
stateRoute({
  ...state,
  parameters,
  response: integer,
  handler: async ({ params }) => {
    const by: 'a' | 'b' | undefined = params.by;
    // @ts-expect-error it is not a number
    const number: number = params.by;
    return [by, number].length;
  },
});
liveRoute({
  ...live,
  body: { type: 'object', properties: { a: integer, b: string }, required: ['a'] },
  response: object({ a: integer, b: nullableString }),
  handler: async ({ body }) => ({ body: { a: body.a, b: body.b ?? null } }),
});

/** Lists: members of a row, and members before those of the page. */
const list = {
  path: '/',
  summary: '',
  parameters: { chain: chainParameter },
  row: object({ height: integer, kind: { type: 'string', enum: ['work', 'stake'] } }),
  reader: rowReader({ height: columns.number, kind: columns.choice(['work', 'stake']) }),
  key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
} as const;
const selected = { list: '', sql: '', values: [], total: async () => 0 };

listRoute({ ...list, select: async () => ({ ...selected, show: (rows) => rows }) });
listRoute({
  ...list,
  members: { address: string },
  select: async () => ({ ...selected, show: (rows) => rows, members: () => ({ address: '' }) }),
});
// @ts-expect-error a row without a member
listRoute({ ...list, select: async () => ({ ...selected, show: (rows) => rows.map(({ height }) => ({ height })) }) });
// @ts-expect-error a row with a surplus member
listRoute({ ...list, select: async () => ({ ...selected, show: (rows) => rows.map((one) => ({ ...one, more: 1 })) }) });
// @ts-expect-error rows whose columns the reader does not read
listRoute({ ...list, select: async () => ({ ...selected, show: (rows: readonly { time: bigint }[]) => rows }) });
listRoute({
  ...list,
  members: { address: string },
  // @ts-expect-error the members before the page are missing
  select: async () => ({ ...selected, show: (rows) => rows }),
});
listRoute({
  ...list,
  members: { address: string },
  // @ts-expect-error another member before the page
  select: async () => ({ ...selected, show: (rows) => rows, members: () => ({ address: 1 }) }),
});
// @ts-expect-error a surplus member before the page
listRoute({
  ...list,
  members: { address: string },
  select: async () => ({ ...selected, show: (rows) => rows, members: () => ({ address: '', more: 1 }) }),
});

/** Columns of a fact have the types that Postgres returns. */
const stored = rowReader(
  storedColumns(DEFINITIONS.block, ['time', 'txCount', 'version', 'validationType', 'feePool', 'previousHash']),
)({});
const { time, tx_count, version, validation_type, fee_pool, previous_hash } = stored;
const types: readonly [bigint, number, bigint, 'work' | 'stake', bigint | null, string | null] = [
  time,
  tx_count,
  version,
  validation_type,
  fee_pool,
  previous_hash,
];
// @ts-expect-error no such field
storedColumns(DEFINITIONS.block, ['surplus']);

export const shown = [types, read.amount satisfies LosslessNumber];
