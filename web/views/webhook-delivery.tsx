/** One delivery: its message, and the receiver's answer. */
import { useEffect, useMemo } from 'preact/hooks';
import { Alert, act, ask, call, Field, Fields, Panel, replaceQuery, Text, Value } from '../kit.ts';
import { useAction } from './use-action.ts';

interface OneDeliveryProps {
  readonly id: string;
  readonly deliveryId: string;
  readonly onChange: () => void;
}

const AFTER_MS = [500, 1_500, 4_000, 16_000];

export function OneDelivery({ id, deliveryId, onChange }: OneDeliveryProps) {
  const answer = useMemo(
    () => ask(call('/api/webhooks/{id}/deliveries/{deliveryId}', { path: { id, deliveryId } })),
    [id, deliveryId],
  );
  useEffect(() => document.getElementById('delivery')?.scrollIntoView({ block: 'nearest' }), []);
  const { trouble, run } = useAction(() => {
    onChange();
    for (const ms of AFTER_MS) setTimeout(() => answer.refresh(), ms);
  });
  const params = { path: { id, deliveryId } };
  const again = () =>
    run(() => act((client) => client.POST('/api/webhooks/{id}/deliveries/{deliveryId}/redrive', { params })));
  return (
    <div id="delivery">
      <Panel title="Delivery" answer={answer} frame="medium">
        {({ body, state }) => (
          <>
            <Fields>
              <Field label="Id" at="/id" as="id" />
              <Field label="State" at="/state" />
              <Field label="Answer" at="/status" as="integer" why="no answer" />
              <Field label="Latency" at="/latencyMs" as="integer" unit="ms" why="not tried yet" />
              <Field label="Last attempt" at="/attemptedAt" as="time" why="not tried yet" />
              <Field label="Reverted" help="A rewind has reverted its event" at="/reverted" />
              <Field label="Reverts" at="/reverts" as="id" why="it is the first about its event" />
              <Field label="Error" at="/error" why="none" />
            </Fields>
            <h3>Message</h3>
            <div class="message">
              <Value at="/body">
                <Text text={indented(body)} keepsLines />
              </Value>
            </div>
            <h3>What the receiver answered</h3>
            <div class="message">
              <Value at="/answer" as="text" why="it has not answered" />
            </div>
            <AnswerCut />
            <p class="actions">
              {state !== 'held' && (
                <button type="button" onClick={again}>
                  Send this one again
                </button>
              )}
              <button type="button" onClick={() => replaceQuery({ delivery: null })}>
                Close
              </button>
            </p>
            {trouble && <Alert trouble={trouble} title="It was not sent again" />}
          </>
        )}
      </Panel>
    </div>
  );
}

function AnswerCut() {
  return (
    <p class="note">
      Only the first 2 kB are kept; the text comes from the receiver and is untrusted. The answer is longer:{' '}
      <Value at="/answerCut" />
    </p>
  );
}

/** Formats the body for reading; it was sent as one line. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
