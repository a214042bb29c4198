/** Returns the text `code` that Node.js, Postgres, ClickHouse and this program give their errors; undefined when there is none. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Whether this is an error of the operating system, such as ENOSPC; codes of Node.js itself contain an underscore. */
export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && /^E[A-Z]+$/.test(errorCode(error) ?? '');
}
