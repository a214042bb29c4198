/** Error codes of SQLite: https://sqlite.org/rescode.html */
export const SQLITE = { busy: 5, readonly: 8, corrupt: 11, full: 13, notADatabase: 26 } as const;

/** SQLITE_IOERR_SHORT_READ: the file is shorter than its pages require. */
const SHORT_READ = 522;

export const isShortRead = (error: unknown): boolean => extendedCode(error) === SHORT_READ;

/** Returns the primary code, which is the low byte of the extended code; null for an error that is not from SQLite. */
export function sqliteCode(error: unknown): number | null {
  const code = extendedCode(error);
  return code === null ? null : code & 0xff;
}

function extendedCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
}
