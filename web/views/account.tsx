/** The logged-in identity, the end of its session, and its remaining credits. */
import {
  AddressLink,
  type Answer,
  chooseSession,
  Field,
  Fields,
  hrefOf,
  logOut,
  msLeft,
  Panel,
  PlainTable,
  service,
  session,
  sessions,
  shownNumber,
  shownSpan,
  Text,
  Value,
  type ViewProps,
} from '../kit.ts';
import { RemainingCredits } from './remaining-credits.tsx';

export function View({ answers: [who, left] }: ViewProps<'account'>) {
  return (
    <>
      <Who answer={who} />
      <Left answer={left} />
      <Tiers />
      <Others />
    </>
  );
}

function Who({ answer }: { readonly answer: Answer<'/api/auth/session'> }) {
  const reader = session.value;
  return (
    <Panel title="Logged in" answer={answer} frame="short">
      {({ chain, identityAddress }) => (
        <>
          <Fields>
            <Field label="Identity">
              <Value at="/identity" as="name" href={hrefOf('identity', { chain, name: identityAddress })} />
            </Field>
            <Field label="Address">
              <AddressLink at="/identityAddress" chain={chain} />
            </Field>
            <Field label="Chain" at="/chain" />
            <Field label="Tier" help="Of its keys and sessions on this chain" at="/tier" />
            <Field label="The session ends">
              <Value at="/expiresAt" as="time" />{' '}
              {reader && (
                <span class="muted" data-derived="time-left">
                  in {shownSpan(msLeft(reader))}
                </span>
              )}
            </Field>
          </Fields>
          <p class="note">
            The session belongs to this tab. It ends when you log out, at its time, or when the identity is revoked.
          </p>
        </>
      )}
    </Panel>
  );
}

function Left({ answer }: { readonly answer: Answer<'/api/usage/now'> }) {
  const note = () => (
    <>
      The keys and sessions of the identity share them. As of <Value at="/at" as="time" />; used credits are counted
      within <Value at="/writtenWithinSeconds" as="integer" unit="s" />.
    </>
  );
  return <RemainingCredits answer={answer} note={note} />;
}

/** From the document: the tiers are the same for every reader. */
function Tiers() {
  return (
    <section class="panel" aria-label="Tiers">
      <h2>Tiers of this service</h2>
      <PlainTable
        class="narrow"
        caption="Tiers"
        isCaptionHidden
        rows={Object.entries(service.creditsPerMinute)}
        columns={[
          { label: 'Tier', cell: ([tier]) => tier },
          {
            label: 'Credits a minute',
            isNumber: true,
            cell: ([, { creditsPerMinute }]) => shownNumber(String(creditsPerMinute), 'integer'),
          },
        ]}
      />
      <p class="note">The operator of the service sets the tier of an identity, on each chain separately.</p>
    </section>
  );
}

/** All identities that are logged in in this tab. */
function Others() {
  return (
    <section class="panel" aria-label="Identities in this tab">
      <h2>Identities in this tab</h2>
      <ul class="sessions">
        {sessions.value.map((one) => {
          const isReader = one === session.value;
          return (
            <li key={one.token} aria-current={isReader ? 'true' : undefined}>
              <span>
                <strong>
                  <Text text={one.identity} isName />
                </strong>{' '}
                on {one.chain} <span class="muted">ends in {shownSpan(msLeft(one))}</span>
              </span>
              {isReader ? (
                <span class="badge">current</span>
              ) : (
                <span class="actions">
                  <button type="button" onClick={() => chooseSession(one.token)}>
                    Change to <Text text={one.identity} /> on {one.chain}
                  </button>
                  <button type="button" onClick={() => void logOut(one)}>
                    Log out <Text text={one.identity} /> on {one.chain}
                  </button>
                </span>
              )}
            </li>
          );
        })}
      </ul>
      <p>
        <a href={hrefOf('login', {}, { next: hrefOf('account', {}) })}>Log in another identity</a>
      </p>
    </section>
  );
}
