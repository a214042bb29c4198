/** Login: the wallet of an identity signs a message, and the signature opens a session. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  Alert,
  act,
  Copy,
  chainNames,
  handleSubmit,
  hrefOf,
  navigate,
  now,
  openSession,
  ownHref,
  Qr,
  session,
  shownSpan,
  shownTime,
  signatureIn,
  Text,
  type Trouble,
  timeZone,
  type ViewProps,
} from '../kit.ts';

interface Challenge {
  readonly challengeId: string;
  readonly message: string;
  readonly command: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export function View({ query }: ViewProps<'login'>) {
  const [challenge, setChallenge] = useState<Challenge | null>(null);
  const after = ownHref(query.get('next')) ?? hrefOf('account', {});
  return (
    <>
      {session.value !== null && (
        <p class="lead">
          You are logged in as <Text text={session.value.identity} isName />. Another identity can log in as well:{' '}
          <a href={hrefOf('account', {})}>your account</a> changes from one to the other.
        </p>
      )}
      <AskForm onChallenge={setChallenge} />
      {challenge && <AnswerForm key={challenge.challengeId} challenge={challenge} after={after} />}
    </>
  );
}

function AskForm({ onChallenge }: { readonly onChallenge: (challenge: Challenge | null) => void }) {
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ask = async (form: HTMLFormElement) => {
    const given = new FormData(form);
    const identity = String(given.get('identity') ?? '').trim();
    const chain = String(given.get('chain') ?? chainNames[0] ?? '');
    setBusy(true);
    onChallenge(null); // the previous message must not be signed any more
    const { data, trouble: failed } = await act((client) =>
      client.POST('/api/auth/challenge', { body: { identity, chain } }),
    );
    setBusy(false);
    setTrouble(failed);
    onChallenge(data);
  };
  return (
    <form
      class="panel login"
      aria-label="Identity"
      onSubmit={handleSubmit((form) => {
        if (!isBusy) void ask(form);
      })}
    >
      <p>
        A wallet that holds the keys of your identity signs a message once. There is no password, and nothing is put on
        the chain.
      </p>
      <div class="row">
        <label for="login-identity">Identity</label>
        <input
          id="login-identity"
          name="identity"
          type="text"
          required
          maxLength={256}
          placeholder="name@ or i-address"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
        />
        {chainNames.length > 1 && (
          <>
            <label for="login-chain">Chain</label>
            <select id="login-chain" name="chain">
              {chainNames.map((chain) => (
                <option key={chain}>{chain}</option>
              ))}
            </select>
          </>
        )}
        <button type="submit" class="main-action">
          Get a challenge
        </button>
      </div>
      {trouble && <Alert trouble={trouble} title="There is no challenge" />}
    </form>
  );
}

interface AnswerProps {
  readonly challenge: Challenge;
  /** The address to open after the login. */
  readonly after: string;
}

function AnswerForm({ challenge, after }: AnswerProps) {
  const { challengeId, message, command, expiresAt } = challenge;
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isBusy, setBusy] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const msLeft = Date.parse(expiresAt) - now.value;
  /** The service accepts one answer, right or wrong. */
  const isSpent = trouble !== null && trouble.status !== 0 && trouble.status !== 429;
  const answer = async (form: HTMLFormElement) => {
    const signature = signatureIn(String(new FormData(form).get('signature') ?? ''));
    setBusy(true);
    const { data, trouble: failed } = await act((client) =>
      client.POST('/api/auth/login', { body: { challengeId, signature } }),
    );
    setBusy(false);
    setTrouble(failed);
    if (data === null) return;
    openSession(data);
    navigate(after);
  };
  return (
    <form
      class="panel login"
      aria-labelledby="login-sign"
      onSubmit={handleSubmit((form) => {
        if (!isBusy && !isSpent) void answer(form);
      })}
    >
      <h2 id="login-sign" ref={heading} tabIndex={-1}>
        Sign this message
      </h2>
      <div class="beside">
        <div>
          <p class="message">
            <Text text={message} />
          </p>
          <p class={msLeft > 0 ? 'note' : 'warning'}>
            {msLeft > 0 ? (
              <>
                It can be answered once, until{' '}
                <time dateTime={expiresAt}>{shownTime(Date.parse(expiresAt), timeZone.value)}</time>:{' '}
                {shownSpan(msLeft)} left. Sign it only if it names this site, {location.host}.
              </>
            ) : (
              'By the clock of this device it has expired: get another challenge.'
            )}
          </p>
          <div class="row">
            <label for="login-command">Command</label>
            <textarea id="login-command" readOnly rows={3} spellcheck={false} value={command} />
            <Copy label="Copy command" text={command} />
          </div>
          <p class="note" data-help="command">
            For the console of a wallet, or behind <code>verus</code> on a command line. Where several keys have to
            sign, give the signature of the first to the next as a third argument.
          </p>
        </div>
        <Qr text={message} label="The message as a QR code" isLarge />
      </div>
      <div class="row">
        <label for="login-signature">Signature</label>
        <textarea
          id="login-signature"
          name="signature"
          rows={3}
          required
          maxLength={8_000}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          placeholder="What signmessage printed"
        />
        <button type="submit" class="main-action" disabled={isSpent}>
          Log in
        </button>
      </div>
      {trouble && <Alert trouble={trouble} title="The login did not succeed" />}
      {isSpent && <p class="note">The message is used up: get another challenge above.</p>}
    </form>
  );
}
