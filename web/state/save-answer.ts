/** Saves an answer to the reader's disk. The session requests it, because a link cannot carry the token. */
import { act } from './act.ts';

/** Milliseconds after which the browser has surely begun the download. */
const REVOKE_MS = 40_000;

/** Saves any content type, such as CSV; the outcome reports a failure. */
export async function saveAnswer(url: string, name: string) {
  const outcome = await act((client) => client.GET(url as '/api/keys', { parseAs: 'blob', cache: 'no-cache' }));
  if (outcome.data !== null) saveAs(outcome.data, name);
  return outcome;
}

function saveAs(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS);
}
