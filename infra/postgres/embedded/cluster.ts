/**
 * Creates the cluster's folder, or brings an existing one up to date: owner of the files, roles, and connection rules.
 * Each step may be interrupted: the next start repeats it.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, PermanentError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';
import { USES_SOCKET } from './address.ts';
import type { Binaries } from './binaries.ts';
import { OWNERSHIP_SQL, printedDatabases, rolesSql, SERVICE_ROLE, SUPERUSER } from './roles.ts';
import { runTool } from './run-tool.ts';
import { dataArgument, giveTo, ownerOf, serverUser, setupUser, type UserId, unprivileged } from './server-user.ts';
import { runSingleUser, type Settings } from './single-user.ts';

export interface Cluster {
  /** User that runs its server. */
  readonly user: UserId;
  /** Password of the service's role. */
  readonly password: string;
}

/** In psql's format; the file exists once the roles do. */
const PASSWORD_FILE = 'verustream.pgpass';
const PASSWORD_LINE = new RegExp(`^\\*:\\*:\\*:${SERVICE_ROLE}:([0-9a-f]{64})$`, 'm');

const WHO_MAY_CONNECT = `# Written by verustream at each start. No other user may connect, and none as superuser.
${USES_SOCKET ? 'local all' : 'host all'} ${SERVICE_ROLE} ${USES_SOCKET ? '' : '127.0.0.1/32 '}scram-sha-256
`;

/** Call only while no server runs on the cluster. @throws PermanentError postgres_init_failed */
export async function openCluster(
  binaries: Binaries,
  data: string,
  settings: Settings,
  logger: Logger,
): Promise<Cluster> {
  try {
    if (!existsSync(join(data, 'PG_VERSION'))) return await makeCluster(binaries, data, settings);
    if (!existsSync(join(data, PASSWORD_FILE))) {
      logger.info({ folder: data }, 'removing trust authentication and superuser rights from the embedded Postgres');
    }
    return await secure(binaries, { data, isUsed: true }, settings);
  } catch (cause) {
    const said = messageOf(cause).replaceAll(/\s*\n\s*/g, '; ');
    throw new PermanentError('postgres_init_failed', `The embedded Postgres cannot be created in ${data}: ${said}`, {
      cause,
    });
  }
}

/** Builds the cluster in a temporary folder and renames it when it is ready. */
async function makeCluster(binaries: Binaries, data: string, settings: Settings): Promise<Cluster> {
  const made = `${data}.new`;
  for (const left of [made, data]) await rm(left, { recursive: true, force: true });
  mkdirSync(made, { recursive: true, mode: 0o700 });
  giveTo(setupUser(), made);
  const args = ['-D', dataArgument(made), '-U', SUPERUSER, '-A', 'reject', '-E', 'UTF8', '--locale=C'];
  const command = unprivileged(binaries.initdb, args, setupUser(), made);
  await runTool(command);
  const cluster = await secure(binaries, { data: made, isUsed: false }, settings);
  renameSync(made, data);
  return cluster;
}

interface Folder {
  readonly data: string;
  /** Whether the cluster may contain objects of the superuser. */
  readonly isUsed: boolean;
}

async function secure(binaries: Binaries, { data, isUsed }: Folder, settings: Settings): Promise<Cluster> {
  const user = serverUser(data);
  replaceFile(join(data, 'pg_hba.conf'), WHO_MAY_CONNECT, user);
  if (!readPassword(data)) {
    giveTo(setupUser(), data);
    const password = randomBytes(32).toString('hex');
    const run = (database: string, sql: string) => runSingleUser(binaries, data, { database, sql, settings });
    const databases = printedDatabases(await run('postgres', rolesSql(password)));
    if (isUsed) for (const database of databases) await run(database, OWNERSHIP_SQL);
    replaceFile(join(data, PASSWORD_FILE), `*:*:*:${SERVICE_ROLE}:${password}\n`, user);
  }
  if (ownerOf(data) !== user) giveTo(user, data);
  const password = readPassword(data);
  if (!password) throw new Error(`${PASSWORD_FILE} was not written`);
  return { user, password };
}

function readPassword(data: string): string | undefined {
  const file = join(data, PASSWORD_FILE);
  return existsSync(file) ? PASSWORD_LINE.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
}

/** Replaces the file atomically; only its owner may read it. */
function replaceFile(file: string, text: string, owner: UserId): void {
  const next = `${file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(next, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    if (owner !== null) fchownSync(descriptor, owner, owner);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(next, file);
}
