/** An answer for the reader's own disk, asked for by the session: an address cannot carry it. */
import { act } from './act.ts';

/** Whatever the address answers, such as CSV. What went wrong is the outcome's to tell. */
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
  URL.revokeObjectURL(link.href);
}
