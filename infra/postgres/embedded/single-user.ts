/** Runs statements as superuser in Postgres' single-user mode, while no server runs: no connection may use that role. */
import type { Binaries } from './binaries.ts';
import { runTool } from './run-tool.ts';
import { dataArgument, setupUser, unprivileged } from './server-user.ts';

export type Settings = Readonly<Record<string, string | number>>;

export const settingArguments = (settings: Settings): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** Runs `sql` in one transaction and returns the output. The cluster's folder must belong to the setup user. */
export async function runSingleUser(
  { postgres }: Binaries,
  data: string,
  { database, sql, settings }: { database: string; sql: string; settings: Settings },
): Promise<string> {
  const args = ['--single', '-j', '-D', dataArgument(data), ...settingArguments({ ...settings, exit_on_error: 'on' })];
  const command = unprivileged(postgres, [...args, database], setupUser(), data);
  return runTool(command, `${sql.trim()}\n\n`); // an empty line ends the transaction's text
}
