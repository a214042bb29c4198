/** Ends a session at the service, and in this tab even if the service does not answer. */
import { act } from './act.ts';
import { bearer } from './client.ts';
import { forgetSession, logoutTrouble, type Session } from './session.ts';

export async function logOut({ token, identity, expiresAt }: Session): Promise<void> {
  const leaving = act((client) => client.POST('/api/auth/logout', { headers: { Authorization: bearer(token) } }));
  forgetSession(token);
  const { trouble } = await leaving;
  if (trouble === null || trouble.code === 'session_required') return;
  logoutTrouble.value = `The service did not receive the logout of ${identity}: its session ends by itself at ${expiresAt}.`;
}
