/** Explains why something could not be shown; it replaces one part of a view, never the whole view. */
import { now } from '../state/clock.ts';
import { address, hrefWith } from '../state/place.ts';
import type { Trouble } from '../state/trouble.ts';
import { Text } from './text.tsx';

const TITLES: Readonly<Record<string, string>> = {
  rate_limited: 'The allowance is used up',
  unreachable: 'The service does not answer',
  not_found: 'Not there',
  session_required: 'You are not logged in',
  login_refused: 'The login was refused',
  identity_revoked: 'The identity is revoked',
  too_many_keys: 'There are too many keys',
  too_many_webhooks: 'There are too many webhooks',
  tier_required: 'This needs a higher tier',
  receiver_refused: 'Messages cannot go there',
};

interface AlertProps {
  readonly trouble: Trouble;
  /** Sends the request again; absent where the page does not retry by itself. */
  readonly retry?: () => void;
  /** What did not happen, as a title. */
  readonly title?: string;
}

export function Alert({ trouble, retry, title = 'This could not be read' }: AlertProps) {
  const { code, status, detail, requestId, retryAt, parameters, suggestions } = trouble;
  const seconds = retryAt === null ? null : Math.max(0, Math.ceil((retryAt - now.value) / 1000));
  return (
    <div role="alert" class="alert" data-code={code} data-request-id={requestId}>
      <strong>{TITLES[code] ?? (status === 404 ? 'Not there' : title)}</strong>{' '}
      <span>
        <Text text={detail} />
        {parameters.length > 0 && ` (${parameters.join(', ')})`}
      </span>
      {suggestions.length > 0 && (
        <span>
          {' '}
          Near names: <Text text={suggestions.join(', ')} />
        </span>
      )}
      {seconds !== null && (
        <>
          {/* Hidden from screen readers, which would read the whole alert again every second. */}
          <span aria-hidden="true">
            {' '}
            {retry ? 'Asked again' : 'Possible again'} in <span data-derived="countdown">{seconds}</span> s.
          </span>
          <span class="hidden"> {retry ? 'It is asked again by itself.' : 'It is possible again later.'}</span>
        </>
      )}
      <FirstPage trouble={trouble} />
      {retry && status !== 404 && status !== 400 && (
        <button type="button" onClick={retry}>
          Ask again now
        </button>
      )}
      <span class="muted">
        {code}
        {requestId !== null && ` · request ${requestId}`}
      </span>
    </div>
  );
}

/** The parameters that name a place in a list. */
const PLACE = { page: null, cursor: null, before: null };

/** Leads to the beginning of a list where the address names a page or a cursor that the list does not have. */
function FirstPage({ trouble: { code, parameters } }: Pick<AlertProps, 'trouble'>) {
  const query = new URL(address.value, location.origin).searchParams;
  const named = Object.keys(PLACE).filter((name) => query.has(name));
  const isRefused =
    code === 'page_too_deep' || code.startsWith('cursor_') || named.some((name) => parameters.includes(name));
  return named.length > 0 && isRefused ? <a href={hrefWith(PLACE)}>First page</a> : null;
}
