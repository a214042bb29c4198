/** Calls that change something: sent once when the reader asks for it, and never repeated automatically. */
import { client } from './client.ts';
import { session, sessionEnded } from './session.ts';
import { type Trouble, troubleOf, unreachable } from './trouble.ts';

/** The result type of openapi-fetch. */
type Sent<Data> = Promise<{ readonly data?: Data; readonly error?: unknown; readonly response: Response }>;

export type ActOutcome<Data> =
  | { readonly data: Data; readonly trouble: null }
  | { readonly data: null; readonly trouble: Trouble };

/** `act((client) => client.POST('/api/keys', { body }))` */
export async function act<Data>(send: (via: typeof client) => Sent<Data>): Promise<ActOutcome<Data>> {
  const reader = session.peek();
  try {
    const { data, error, response } = await send(client);
    // A 204 has no data.
    if (response.ok) return { data: data as Data, trouble: null };
    const trouble = troubleOf(error, response);
    if (trouble.code === 'session_required' && reader) sessionEnded(reader.token);
    return { data: null, trouble };
  } catch (error) {
    return { data: null, trouble: { ...unreachable(error), retryAt: null } };
  }
}
