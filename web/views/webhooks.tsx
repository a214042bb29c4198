/** Webhooks of the logged-in identity. */
import { useState } from 'preact/hooks';
import { type Answer, type AnswerOf, hrefOf, Panel, Table, Value, type ViewProps } from '../kit.ts';
import { NewWebhook } from './webhook-dialogs.tsx';

export type Webhook = AnswerOf<'/api/webhooks'>['webhooks'][number];

export function View({ answers: [list] }: ViewProps<'webhooks'>) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <p class="lead">
        The service posts events to your address, signed, until it answers. Webhooks are for the tier pro.
      </p>
      <p class="actions">
        <button type="button" class="main-action" onClick={() => setAsked(true)}>
          New webhook
        </button>
      </p>
      <Webhooks answer={list} />
      {isAsked && <NewWebhook onMade={() => list.refresh()} onClose={() => setAsked(false)} />}
    </>
  );
}

function Webhooks({ answer }: { readonly answer: Answer<'/api/webhooks'> }) {
  return (
    <Panel title="Webhooks of the identity" answer={answer} frame="medium">
      {({ webhooks }) => (
        <Table
          at="/webhooks"
          rows={webhooks}
          caption="Webhooks"
          empty="There is no webhook yet. With a webhook, events are sent to your program."
          columns={[
            { head: 'Id', at: 'id', as: 'id', href: ({ id }) => hrefOf('webhook', { id }) },
            { head: 'Receiver', at: 'url' },
            { head: 'Description', at: 'description', as: 'name' },
            { head: 'Events', cell: ({ events }) => <Events count={events.length} at="events" /> },
            { head: 'Sends', at: 'enabled' },
            { head: 'Why not', at: 'disabledReason', as: 'word', why: 'it sends' },
            { head: 'Failing since', at: 'failingSince', as: 'time', why: 'it does not fail' },
            { head: 'Made', at: 'createdAt', as: 'time' },
          ]}
        />
      )}
    </Panel>
  );
}

export function Events({ count, at }: { readonly count: number; readonly at: string }) {
  return (
    <span class="words">
      {Array.from({ length: count }, (_, index) => (
        <span key={index}>
          <Value at={`${at}/${index}`} as="word" />
        </span>
      ))}
    </span>
  );
}
