/** The address of the server: a Unix socket in a folder that no other user may enter (on Windows a TCP port). */
import { lchownSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PermanentError } from '../../../schemas/errors.ts';
import { freePort } from '../../free-port.ts';
import { fitsSocket, MAX_SOCKET_PATH } from '../../socket-path.ts';
import type { UserId } from './server-user.ts';

export interface ServerAddress {
  /** Absolute path of the socket's folder; on Windows a host name. */
  readonly host: string;
  readonly port: number;
  /** Path of the socket; null on Windows. */
  readonly socket: string | null;
  /** Settings for a server whose working directory is its data folder. */
  readonly settings: Readonly<Record<string, string | number>>;
  remove(): void;
}

/** Part of the socket's name only: nothing listens on TCP. */
const PORT = 5432;
const SHORT = 'vs-postgres-';

/** Node.js does not support Unix sockets on Windows. */
export const USES_SOCKET = process.platform !== 'win32';

/** @throws PermanentError data_dir_too_long */
export async function serverAddress(data: string, user: UserId): Promise<ServerAddress> {
  if (!USES_SOCKET) {
    const port = await freePort();
    const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
    return { host: '127.0.0.1', port, socket: null, settings, remove: () => undefined };
  }
  const settings = { port: PORT, listen_addresses: '' };
  if (fits(data)) {
    const inData = { ...settings, unix_socket_directories: '.' };
    return { host: data, port: PORT, socket: socketIn(data), settings: inData, remove: () => undefined };
  }
  const host = mkdtempSync(join(tmpdir(), SHORT));
  const remove = () => rmSync(host, { recursive: true, force: true });
  process.once('exit', remove);
  if (user !== null) lchownSync(host, user, user);
  if (fits(host)) {
    const inHost = { ...settings, unix_socket_directories: host };
    return { host, port: PORT, socket: socketIn(host), settings: inHost, remove };
  }
  remove();
  throw new PermanentError(
    'data_dir_too_long',
    `Neither DATA_DIR (${data}) nor the folder of temporary files (${tmpdir()}) is short enough for a socket, whose path may have at most ${MAX_SOCKET_PATH} bytes. Use a shorter DATA_DIR or TMPDIR.`,
  );
}

/** Removes the socket folder of a killed process, whose path is in its server's postmaster.pid, if this module made the folder. */
export function removeLeftSocketFolder(folder: string): void {
  if (dirname(folder) !== tmpdir() || !folder.startsWith(join(tmpdir(), SHORT))) return;
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) rmSync(folder, { recursive: true, force: true });
}

const socketIn = (folder: string) => join(folder, `.s.PGSQL.${PORT}`);
const fits = (folder: string) => fitsSocket(socketIn(folder));
