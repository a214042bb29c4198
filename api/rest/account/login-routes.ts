/** Login of an identity by a signed challenge: /api/auth/… */

import { readRow } from '../../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { KeyOwner } from '../../access/key-store.ts';
import { tierOf } from '../../access/key-store.ts';
import { closeSession, openSession } from '../../access/sessions.ts';
import type { ApiContext } from '../../api-context.ts';
import { parameterError } from '../../http/api-error.ts';
import { liveRoute } from '../../http/route.ts';
import { addressOfIdentity, friendlyName } from '../identities/identity-rows.ts';
import { challenge, challengeRequest, login, loginRequest, nothing, sessionState } from './schema.ts';

const live = { parameters: {}, weight: 1, cache: 'none', ofAccount: true } as const;

function chainOf(api: ApiContext, asked: string | undefined): string {
  const chains = api.config.chains.map(({ name }) => name);
  const name = (asked ?? chains[0] ?? '').toLowerCase();
  if (chains.includes(name)) return name;
  throw parameterError('chain', `chain must be one of ${chains.join(', ')}`);
}

const readName = rowReader({ name: columns.text });

async function nameOf(api: ApiContext, { chain, identityAddress }: KeyOwner): Promise<string> {
  const sql = `SELECT fully_qualified_name AS name FROM identities
    WHERE chain = $1 AND identity_address = $2 AND to_height IS NULL`;
  const row = await readRow(api.postgres.pool, readName, sql, [chain, identityAddress]);
  return friendlyName(row?.name ?? identityAddress, api.chain(chain).networkRoot);
}

const ask = liveRoute({
  ...live,
  path: '/api/auth/challenge',
  method: 'POST',
  summary: 'A message for an identity to sign; it can be answered once, within 5 minutes',
  body: challengeRequest,
  response: challenge,
  errors: ['not_found', 'identity_revoked', 'daemon_error'],
  async handler({ api, body, host }) {
    const chain = chainOf(api, body.chain);
    const identityAddress = await api.snapshot((read) => addressOfIdentity(read, api, chain, body.identity));
    const { id, message, command, expiresAt } = await api.login.challenge({ chain, identityAddress }, host);
    return { body: { challengeId: id, message, command, expiresAt: expiresAt.toISOString() } };
  },
});

const answer = liveRoute({
  ...live,
  path: '/api/auth/login',
  method: 'POST',
  summary: 'A session for the identity that signed the challenge',
  body: loginRequest,
  response: login,
  errors: ['not_found', 'identity_revoked', 'daemon_error'],
  async handler({ api, body, host }) {
    const { challengeId, signature } = body;
    const proven = await api.login.answer(challengeId, signature, host);
    const { token, expiresAt } = await openSession(api.postgres, proven);
    const holder = { chain: proven.chain, identityAddress: proven.identityAddress };
    const identity = await nameOf(api, holder);
    return { body: { token, expiresAt: expiresAt.toISOString(), identity, ...holder } };
  },
});

const state = liveRoute({
  ...live,
  path: '/api/auth/session',
  summary: 'Who is logged in, and the tier of its keys',
  response: sessionState,
  holder: 'session',
  async handler({ api, holder: { expiresAt, chain, identityAddress } }) {
    const owner = { chain, identityAddress };
    const identity = await nameOf(api, owner);
    const tier = await tierOf(api.postgres, owner);
    return { body: { expiresAt: expiresAt.toISOString(), identity, ...owner, tier } };
  },
});

const end = liveRoute({
  ...live,
  path: '/api/auth/logout',
  method: 'POST',
  status: 204,
  summary: 'Ends the session',
  response: nothing,
  holder: 'session',
  async handler({ api, caller }) {
    await closeSession(api.postgres, caller.bearer);
    return { body: null };
  },
});

export const authRoutes = [ask, answer, state, end];
