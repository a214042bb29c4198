/** `audit`: Postgres against ClickHouse, and both against what must hold. */
import { type AuditResult, audit } from '../pipeline/audit/audit.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { StoreContext } from './control-commands.ts';

/** Prints a line a table and invariant; → 0 only when both stores hold the same and every invariant holds. */
export async function printAudit(
  { config, stores }: StoreContext,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const chains = config.chains.map((chain) => ({ name: chain.name, nativeCurrencyId: nativeCurrencyId(chain) }));
  let different = 0;
  let broken = 0;
  for await (const result of audit(stores, chains, signal)) {
    print(`${result.chain}  ${line(result)}`);
    if (result.kind === 'table' && result.partsAt !== null) different++;
    if (result.kind === 'invariant' && result.violation) broken++;
  }
  if (broken > 0) print(`${broken} invariants are broken: run \`verustream verify\`.`);
  print(
    different === 0
      ? 'Postgres and ClickHouse hold the same.'
      : `${different} tables differ: run \`verustream verify\`.`,
  );
  return different + broken === 0 ? 0 : 1;
}

function line(result: AuditResult): string {
  if (result.kind === 'table') {
    const verdict = result.partsAt === null ? 'equal' : `DIFFERENT, first at height ${result.partsAt}`;
    return `${result.table}: ${result.rows} rows up to height ${result.height}: ${verdict}`;
  }
  const { violation } = result;
  if (!violation) return `${result.invariant}: holds up to height ${result.height}`;
  const of = violation.reserveId ? `${violation.currencyId}, reserve ${violation.reserveId}` : violation.currencyId;
  return `${result.invariant}: BROKEN, first at height ${violation.height} by ${violation.excess} satoshis of ${of}`;
}
