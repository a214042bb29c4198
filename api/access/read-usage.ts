/** Reads the usage of an identity for its owner, by time step and by key or route. */
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import type { KeyOwner } from './key-store.ts';
import { STEP_SECONDS, type UsageStep } from './usage-steps.ts';

export const USAGE_PARTS = ['key', 'route'] as const;
export type UsagePart = (typeof USAGE_PARTS)[number];

const SUMS = {
  requests: columns.bigint,
  credits: columns.bigint,
  rate_limited: columns.bigint,
  key_limited: columns.bigint,
  tier_required: columns.bigint,
};
const readUsed = rowReader({
  at: columns.date,
  /** Id of the key or pattern of the route. */
  of: columns.text,
  ...SUMS,
});
export type UsageRow = RowRead<typeof readUsed>;

/** Cursor: the last row that the caller already has. */
export interface UsagePlace {
  /** Seconds since the epoch. */
  readonly at: number;
  readonly of: string;
}

export interface UsageQuery {
  readonly step: UsageStep;
  readonly by: UsagePart;
  /** `from` and `to` are seconds since the epoch, extended to whole steps. */
  readonly from: number;
  readonly to: number;
  readonly keyId: string | null;
  readonly limit: number;
  readonly after: UsagePlace | null;
}

const READ_SQL: Readonly<Record<UsagePart, string>> = { key: readSql('key_id'), route: readSql('route') };

function readSql(column: 'key_id' | 'route'): string {
  return `SELECT * FROM (
      SELECT date_bin(make_interval(secs => $4), u.at, 'epoch'::timestamptz) AS at, u.${column} AS of,
        ${Object.keys(SUMS)
          .map((name) => `sum(u.${name})::int8 AS ${name}`)
          .join(', ')}
      FROM account_usage u WHERE u.chain = $1 AND u.identity_address = $2 AND u.step = $3
        AND u.at >= to_timestamp($5) AND u.at < to_timestamp($6) AND ($7::text IS NULL OR u.key_id = $7)
      GROUP BY 1, 2) AS rows
    WHERE $8::bigint IS NULL OR (at, $9::text COLLATE "C") < (to_timestamp($8), of COLLATE "C")
    ORDER BY at DESC, of COLLATE "C" LIMIT $10`;
}

/** Returns rows newest first, including those of revoked keys. */
export function readUsage({ pool }: Postgres, holder: KeyOwner, asked: UsageQuery): Promise<UsageRow[]> {
  const { step, by, from, to, keyId, limit, after } = asked;
  const width = STEP_SECONDS[step];
  // Routes are stored only by hour; days are summed from hours.
  const source = by === 'route' ? 'hour' : step;
  const whole = [Math.floor(from / width) * width, Math.ceil(to / width) * width];
  const place = [after?.at ?? null, after?.of ?? ''];
  const values = [holder.chain, holder.identityAddress, source, width, ...whole, keyId, ...place, limit];
  return readRows(pool, readUsed, READ_SQL[by], values);
}
