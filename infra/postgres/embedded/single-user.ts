/** Runs statements as superuser in Postgres' single-user mode, while no server runs: no connection may use that role. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
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
  const running = promisify(execFile)(command.file, [...command.args], { ...command.options, maxBuffer: 1 << 24 });
  running.child.stdin?.on('error', () => undefined); // the program ended early; `running` rejects with the reason
  running.child.stdin?.end(`${sql.trim()}\n\n`); // an empty line ends the transaction's text
  return (await running).stdout;
}
