/** `audit`: compares Postgres with ClickHouse, and both with the invariants. */
import { type AuditResult, audit } from '../pipeline/audit/audit.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { CommandOutcome, Output, StoreContext } from './command.ts';
import { createProgressLine } from './progress-line.ts';
import { allCompared } from './uncompared.ts';

/** Prints a line for each table and invariant; exit code 0 only if both stores agree on every chain and every invariant holds. */
export async function run(
  { config, stores, signal }: Pick<StoreContext, 'config' | 'stores' | 'signal'>,
  _input: object,
  { line, progress }: Output,
): Promise<CommandOutcome> {
  const chains = config.chains.map((chain) => ({ name: chain.name, nativeCurrencyId: nativeCurrencyId(chain) }));
  const results: AuditResult[] = [];
  const show = createProgressLine(progress);
  const audited = audit(stores, chains, signal, (at) => show(`${at.chain} ${at.ledger}`, at));
  for await (const result of audited) {
    results.push(result);
    line(`${result.chain}  ${described(result)}`);
  }
  const tables = results.filter((result) => result.kind === 'table').map(({ kind, ...table }) => table);
  const invariants = results.filter((result) => result.kind === 'invariant').map(({ kind, ...rest }) => rest);
  const different = tables.filter(({ partsAt }) => partsAt !== null).length;
  const broken = invariants.filter(({ violation }) => violation).length;
  if (broken > 0) line(`${broken} invariants are broken: run \`verustream verify\`.`);
  line(different === 0 ? 'Postgres and ClickHouse agree.' : `${different} tables differ: run \`verustream verify\`.`);
  const compared = (name: string) => results.some(({ chain, height }) => chain === name && height >= 0);
  const ok = allCompared(chains, compared, line) && different + broken === 0;
  return { exitCode: ok ? 0 : 1, state: { ok, tables, invariants } };
}

function described(result: AuditResult): string {
  if (result.kind === 'table') {
    const verdict = result.partsAt === null ? 'equal' : `DIFFERENT from height ${result.partsAt} on`;
    return `${result.table}: ${result.rows} rows up to height ${result.height}: ${verdict}`;
  }
  const { violation } = result;
  if (!violation) return `${result.invariant}: holds up to height ${result.height}`;
  const of = violation.reserveId ? `${violation.currencyId}, reserve ${violation.reserveId}` : violation.currencyId;
  return `${result.invariant}: BROKEN from height ${violation.height} on, by ${violation.excess} satoshis of ${of}`;
}
