/** A receiver for this webhook in two languages: programs of examples/, filled in with its values. */
import python from 'example:webhook_receiver.py';
import typescript from 'example:webhook-receiver.ts';
import { useState } from 'preact/hooks';
import { type Answer, Copy, receiverExample } from '../kit.ts';

const PROGRAMS = {
  typescript: {
    words: 'TypeScript',
    source: typescript,
    file: 'webhook-receiver.ts',
    run: 'npm install standardwebhooks && node webhook-receiver.ts',
  },
  python: {
    words: 'Python',
    source: python,
    file: 'webhook_receiver.py',
    run: 'pip install standardwebhooks && python3 webhook_receiver.py',
  },
} as const;
type Language = keyof typeof PROGRAMS;

export function ReceiverCode({ answer }: { readonly answer: Answer<'/api/webhooks/{id}'> }) {
  const [language, setLanguage] = useState<Language>('typescript');
  const webhook = answer.shown.value?.data;
  if (!webhook) return null;
  const { source, file, run, words } = PROGRAMS[language];
  const code = receiverExample(source, webhook);
  return (
    <section class="panel" aria-label="A receiver for this webhook">
      <header>
        <h2>A receiver for this webhook</h2>
      </header>
      <p class="note">
        It verifies each message, takes it once, and reverts what a reorganisation removes. Save it as{' '}
        <code>{file}</code>, put the secret into <code>WEBHOOK_SECRET</code>, and run <code>{run}</code>.
      </p>
      <p class="actions">
        {(Object.keys(PROGRAMS) as Language[]).map((name) => (
          <button key={name} type="button" aria-pressed={name === language} onClick={() => setLanguage(name)}>
            {PROGRAMS[name].words}
          </button>
        ))}
        <Copy label={`Copy ${words}`} text={code} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard */}
      <section class="message code" tabIndex={0} aria-label={`Receiver in ${words}`} data-testid="receiver">
        {code}
      </section>
    </section>
  );
}
