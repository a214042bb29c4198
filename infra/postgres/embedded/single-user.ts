/** Statements of the superuser, run while no server does: no connection may ever have that role. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { dataArgument, setupUser, unprivileged } from './server-user.ts';

export type Settings = Readonly<Record<string, string | number>>;

export const settingArguments = (settings: Settings): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** In one transaction; → what it prints. The cluster's folder belongs to the setup user meanwhile. */
export async function runSingleUser(
  { postgres }: Binaries,
  data: string,
  { database, sql, settings }: { database: string; sql: string; settings: Settings },
): Promise<string> {
  const args = ['--single', '-j', '-D', dataArgument(data), ...settingArguments({ ...settings, exit_on_error: 'on' })];
  const command = unprivileged(postgres, [...args, database], setupUser(), data);
  const running = promisify(execFile)(command.file, [...command.args], { ...command.options, maxBuffer: 1 << 24 });
  running.child.stdin?.on('error', () => undefined); // it ended early, and its exit says why
  running.child.stdin?.end(`${sql.trim()}\n\n`); // an empty line ends what is run as one
  return (await running).stdout;
}
