/** Whether this is an error of the operating system, such as ENOSPC; codes of Node.js itself contain an underscore. */
export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);
}
