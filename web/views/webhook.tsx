/** A webhook: its state, its deliveries, and a receiver for it. */
import { type Answer, Field, Fields, JsonTree, Panel, Value, type ViewProps } from '../kit.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { Deliveries } from './webhook-deliveries.tsx';
import { OneDelivery } from './webhook-delivery.tsx';
import { ReceiverCode } from './webhook-receiver.tsx';
import { Events } from './webhooks.tsx';

/** Delays of the refreshes after an action: an attempt takes up to 15 s, but most finish at once. */
const AFTER_MS = [300, 1_000, 2_000, 4_000, 8_000, 16_000];

export function View({ query, parts: { id }, answers: [webhook, deliveries] }: ViewProps<'webhook'>) {
  const one = query.get('delivery');
  const look = () => {
    for (const ms of AFTER_MS) {
      setTimeout(() => {
        webhook.refresh();
        deliveries.refresh();
      }, ms);
    }
  };
  return (
    <>
      <State answer={webhook} onChange={look} />
      <Deliveries answer={deliveries} id={id} query={query} onChange={look} />
      {one !== null && <OneDelivery key={one} id={id} deliveryId={one} onChange={look} />}
      <ReceiverCode answer={webhook} />
    </>
  );
}

interface StateProps {
  readonly answer: Answer<'/api/webhooks/{id}'>;
  readonly onChange: () => void;
}

function State({ answer, onChange }: StateProps) {
  return (
    <Panel title="Webhook" answer={answer} frame="medium">
      {(webhook) => (
        <>
          <Fields>
            <Field label="Receiver" at="/url" />
            <Field label="Description">
              {webhook.description === '' ? <span class="none">– none</span> : <Value at="/description" as="name" />}
            </Field>
            <Field label="Events">
              <Events count={webhook.events.length} at="/events" />
            </Field>
            <Field label="Chains">
              {webhook.chains === null ? (
                <Value at="/chains" why="all" />
              ) : (
                <Events count={webhook.chains.length} at="/chains" />
              )}
            </Field>
            <Field label="Confirmations" at="/confirmations" as="integer" />
            <Field label="Sends" at="/enabled" />
            <Field label="Why not" at="/disabledReason" as="word" why="it sends" />
            <Field label="Failing since" at="/failingSince" as="time" why="it does not fail" />
            <Field label="Made" at="/createdAt" as="time" />
            <Field label="Old secret signs until" help="After a new secret, messages are signed with both for 24 hours">
              <Value at="/oldSecretEndsAt" as="time" why="there is one secret" />
            </Field>
          </Fields>
          <div class="beside">
            <div>
              <h3>Filter</h3>
              <JsonTree at="/filter" />
            </div>
            {webhook.thresholds.length > 0 && (
              <div>
                <h3>Prices</h3>
                <JsonTree at="/thresholds" />
              </div>
            )}
          </div>
          <WebhookActions webhook={webhook} onChange={onChange} />
        </>
      )}
    </Panel>
  );
}
