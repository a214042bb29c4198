/** Authorization for paths of an identity: its session or, where the route allows it, one of its keys. */
import type { ApiContext } from '../api-context.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from './gate.ts';
import type { KeyOwner } from './key-store.ts';
import { findSession, type Session } from './sessions.ts';

/** Credentials that a route accepts. */
export type Proof = 'session' | 'keyOrSession';
export type HolderBy<P> = P extends 'session' ? Session : P extends 'keyOrSession' ? KeyOwner : undefined;

/** @throws ApiError session_required */
export async function requireHolder<P extends Proof>(api: ApiContext, caller: Caller, proof: P): Promise<HolderBy<P>>;
export async function requireHolder(api: ApiContext, caller: Caller, proof: Proof): Promise<Session | KeyOwner> {
  if (proof === 'session') return requireSession(api, caller);
  const { chain, identityAddress } = caller.key ?? (await requireSession(api, caller));
  return { chain, identityAddress };
}

async function requireSession(api: ApiContext, caller: Caller): Promise<Session> {
  const session = await findSession(api.postgres, caller.bearer);
  // The chain may have been removed from the configuration since the login.
  if (session && api.config.chains.some(({ name }) => name === session.chain)) return session;
  const detail = 'this path takes Authorization: Bearer with the token of a login that has not ended';
  throw new ApiError('session_required', detail, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
