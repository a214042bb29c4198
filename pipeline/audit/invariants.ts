/** Invariants of a chain's rows after every block. docs/decisions/0011-audit.md has the equations. */
import type { PoolClient } from 'pg';
import type { Violation } from '../../schemas/audit-report.ts';
import { CURRENCY_LEDGER_SQL, ISSUE_SQL } from './invariants-sql.ts';
import type { Range } from './range-content.ts';

export const INVARIANTS = {
  native_issue: 'a block issues as many coins as the blocks around it',
  reserve_deposits: "a basket's reserves equal its unspent reserve deposits",
  token_supply: "a token's supply equals its unspent outputs plus the remainder of its launch",
} as const;

type Row = Omit<Violation, 'reserveId' | 'currencyId'> & { currency_id: string; reserve_id: string | null };

/** First violations of the range, lowest first; that they held before it is taken for granted. */
export async function brokenInvariants(client: PoolClient, { chain, low, high }: Range): Promise<Violation[]> {
  const parameters = [chain.name, low, high, chain.nativeCurrencyId];
  const issue = await client.query<Row>(ISSUE_SQL, parameters);
  const currencies = await client.query<Row>(CURRENCY_LEDGER_SQL, parameters);
  return [...issue.rows, ...currencies.rows]
    .map(({ currency_id: currencyId, reserve_id: reserveId, ...row }) => ({ ...row, currencyId, reserveId }))
    .sort((a, b) => a.height - b.height);
}
