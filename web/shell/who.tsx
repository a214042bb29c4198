/** The logged-in identity and the end of its session, in the header of every view. */
import { hrefOf } from '../addresses.ts';
import { Text } from '../parts/text.tsx';
import { logOut } from '../state/logout.ts';
import { address, navigate, place } from '../state/place.ts';
import { msLeft, type Session, session } from '../state/session.ts';
import { shownSpan } from '../text/times.ts';
import { views } from '../views.ts';

export function Who() {
  const { value } = session;
  return value === null ? <LogIn /> : <LoggedIn reader={value} />;
}

/** The login returns the reader to the current address. */
export function hrefOfLogin(): string {
  const isHere = place.value?.name === 'login';
  return hrefOf('login', {}, { next: isHere ? place.value?.query.get('next') : address.value });
}

function LogIn() {
  return (
    <a class="log-in" href={hrefOfLogin()} aria-current={place.value?.name === 'login' ? 'page' : undefined}>
      Log in
    </a>
  );
}

function LoggedIn({ reader }: { readonly reader: Session }) {
  const { identity, chain, expiresAt } = reader;
  const leave = async () => {
    const isPrivate = place.value !== null && 'isPrivate' in views[place.value.name];
    const leaving = logOut(reader);
    if (isPrivate) navigate(hrefOf('login', {}));
    await leaving;
  };
  return (
    <span class="who">
      <a href={hrefOf('account', {})}>
        <strong>
          <Text text={identity} isName />
        </strong>{' '}
        <small class="muted">
          {chain} · <time dateTime={expiresAt}>ends in {shownSpan(msLeft(reader))}</time>
        </small>
      </a>
      <button type="button" onClick={leave}>
        Log out
      </button>
    </span>
  );
}
