/** Parts above views that need a login, and the part shown instead of such a view while no identity is logged in. */
import type { Signal } from '@preact/signals';
import { hrefOf } from '../addresses.ts';
import { Text } from '../parts/text.tsx';
import { place } from '../state/place.ts';
import { chooseSession, endedSession, logoutTrouble, type Session, sessions } from '../state/session.ts';
import { hrefOfLogin } from './who.tsx';

const SECTIONS = [
  { name: 'account', words: 'Account' },
  { name: 'keys', words: 'Keys' },
  { name: 'usage', words: 'Usage' },
  { name: 'webhooks', words: 'Webhooks' },
] as const;

/** A single webhook counts as part of the webhooks section. */
function currentOf(name: string): 'page' | 'true' | undefined {
  const here = place.value?.name;
  if (here === name) return 'page';
  return here === 'webhook' && name === 'webhooks' ? 'true' : undefined;
}

export function AccountNav() {
  return (
    <nav class="sections" aria-label="Account">
      {SECTIONS.map(({ name, words }) => (
        <a key={name} href={hrefOf(name, {})} aria-current={currentOf(name)}>
          {words}
        </a>
      ))}
    </nav>
  );
}

/** Shown instead of a view of an account. */
export function LoginWanted() {
  return (
    <>
      <div role="alert" class="alert" data-code="session_required">
        <strong>Log in to see this</strong> <span>It is shown to the identity that it belongs to.</span>{' '}
        <a href={hrefOfLogin()}>Log in</a>
      </div>
      <OpenSessions />
    </>
  );
}

/** The logged-in identities, from which the reader chooses one. */
function OpenSessions() {
  if (sessions.value.length === 0) return null;
  return (
    <section class="panel" aria-label="Identities that are logged in">
      <ul class="sessions">
        {sessions.value.map((one) => (
          <li key={one.token}>
            <ChooseSession one={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ChooseSession({ one }: { readonly one: Session }) {
  return (
    <button type="button" onClick={() => chooseSession(one.token)}>
      Go on as <Text text={one.identity} isName /> on {one.chain}
    </button>
  );
}

/** On every view: reports that a session ended, or that a logout failed. */
export function SessionNotice() {
  const ended = endedSession.value;
  if (ended !== null) {
    return (
      <p class="banner" role="status" data-help="session-ended">
        <strong>Your session has ended</strong>
        <span>
          <Text text={ended.identity} isName /> is no longer logged in.
        </span>
        <a href={hrefOfLogin()}>Log in again</a>
        <Dismiss what={endedSession} />
      </p>
    );
  }
  if (logoutTrouble.value === null) return null;
  return (
    <p class="banner" role="status" data-help="logout">
      <Text text={logoutTrouble.value} />
      <Dismiss what={logoutTrouble} />
    </p>
  );
}

function Dismiss({ what }: { readonly what: Signal<unknown> }) {
  return (
    <button
      type="button"
      onClick={() => {
        what.value = null;
      }}
    >
      Dismiss
    </button>
  );
}
