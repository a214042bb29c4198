/** Codes of SQLite's errors: https://sqlite.org/rescode.html */
export const SQLITE = { busy: 5, readonly: 8, corrupt: 11, full: 13, notADatabase: 26 } as const;

/** Null for another error. The low byte is the primary code, the rest says more about it. */
export function sqliteCode(error: unknown): number | null {
  if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return null;
}
