/** Invariants of a chain's rows after every block. docs/decisions/0011-audit.md has the equations. */
import type { PoolClient } from 'pg';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Violation } from '../../schemas/audit-report.ts';
import { CURRENCY_LEDGER_SQL, ISSUE_SQL } from './invariants-sql.ts';
import type { Range } from './range-content.ts';

export const INVARIANTS = {
  native_issue: 'a block issues as many coins as the blocks around it',
  reserve_deposits: "a basket's reserves equal its unspent reserve deposits",
  token_supply: "a token's supply equals its unspent outputs plus the remainder of its launch",
} as const;

const readViolation = rowReader({
  invariant: columns.text,
  height: columns.number,
  currency_id: columns.text,
  reserve_id: columns.nullable(columns.text),
  excess: columns.text,
});

/** Returns the first violations in the range, lowest first. Assumes that the invariants hold before the range. */
export async function brokenInvariants(client: PoolClient, { chain, low, high }: Range): Promise<Violation[]> {
  const parameters = [chain.name, low, high, chain.nativeCurrencyId];
  const issue = await readRows(client, readViolation, ISSUE_SQL, parameters);
  const currencies = await readRows(client, readViolation, CURRENCY_LEDGER_SQL, parameters);
  return [...issue, ...currencies]
    .map(({ currency_id: currencyId, reserve_id: reserveId, ...row }) => ({ ...row, currencyId, reserveId }))
    .sort((a, b) => a.height - b.height);
}
