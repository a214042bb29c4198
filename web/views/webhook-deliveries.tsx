/** Deliveries of a webhook: delivered, pending and failed. */
import { useState } from 'preact/hooks';
import {
  Alert,
  type Answer,
  type AnswerOf,
  act,
  hrefWith,
  Panel,
  Pick,
  replaceQuery,
  Table,
  useRefresh,
  Value,
} from '../kit.ts';
import { useAction } from './use-action.ts';

type List = Answer<'/api/webhooks/{id}/deliveries'>;
type Delivery = AnswerOf<'/api/webhooks/{id}/deliveries'>['results'][number];

const REFRESH_MS = 15_000;
/** The client's types guarantee that this list is complete. */
const STATES = Object.keys({
  held: true,
  pending: true,
  delivered: true,
  failed: true,
} satisfies Record<Delivery['state'], true>);

interface DeliveriesProps {
  readonly answer: List;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly onChange: () => void;
}

export function Deliveries({ answer, id, query, onChange }: DeliveriesProps) {
  useRefresh(answer, REFRESH_MS);
  const [sent, setSent] = useState<string | null>(null);
  const { trouble, run } = useAction(onChange);
  const again = (deliveryId: string) => {
    const params = { path: { id, deliveryId } };
    void run(() => act((client) => client.POST('/api/webhooks/{id}/deliveries/{deliveryId}/redrive', { params })));
  };
  const allAgain = async () => {
    const outcome = await run(() =>
      act((client) => client.POST('/api/webhooks/{id}/redrive', { params: { path: { id } } })),
    );
    if (!outcome?.data) return;
    const { redriven, more } = outcome.data;
    setSent(`${redriven} failed deliveries are sent again${more ? '; there are more of them' : ''}.`);
  };
  return (
    <Panel title="Deliveries" answer={answer} frame="tall">
      {({ results, nextBefore }) => (
        <>
          <p class="actions">
            <Pick name="state" options={STATES} query={query} />
            <button type="button" onClick={allAgain}>
              Send all failed ones again
            </button>
            <span role="status" data-derived="redriven">
              {sent}
            </span>
          </p>
          {trouble && <Alert trouble={trouble} title="It was not sent again" />}
          <Rows results={results} onAgain={again} />
          <Pages nextBefore={nextBefore} query={query} />
        </>
      )}
    </Panel>
  );
}

interface RowsProps {
  readonly results: readonly Delivery[];
  readonly onAgain: (id: string) => void;
}

function Rows({ results, onAgain }: RowsProps) {
  return (
    <Table
      at="/results"
      rows={results}
      caption="Deliveries, the newest first"
      empty="Nothing is here: no event has come since, or none is in this state."
      columns={[
        { head: 'Made', at: 'createdAt', as: 'time' },
        { head: 'Kind', at: 'kind' },
        { head: 'Chain', at: 'chain', why: 'of no chain' },
        { head: 'Block', at: 'height', as: 'integer', why: 'of no block' },
        {
          head: 'State',
          cell: ({ state }) => (
            <span class={`status ${state}`}>
              <Value at="state" />
            </span>
          ),
        },
        { head: 'Answer', at: 'status', as: 'integer', why: 'no answer' },
        { head: 'Latency', at: 'latencyMs', as: 'integer', unit: 'ms', why: 'not tried yet' },
        { head: 'Attempts', at: 'attempts', as: 'integer' },
        { head: 'Next attempt', at: 'nextAttemptAt', as: 'time', why: 'none is due' },
        { head: 'Error', at: 'error', why: 'none' },
        {
          head: 'Do',
          isNumber: true,
          cell: ({ id, kind, state }) => (
            <span class="actions">
              <button type="button" aria-label={`Show ${kind} ${id}`} onClick={() => replaceQuery({ delivery: id })}>
                Show
              </button>
              {state !== 'held' && (
                <button type="button" aria-label={`Send again ${kind} ${id}`} onClick={() => onAgain(id)}>
                  Send again
                </button>
              )}
            </span>
          ),
        },
      ]}
    />
  );
}

function Pages({ nextBefore, query }: { readonly nextBefore: string | null; readonly query: URLSearchParams }) {
  return (
    <nav class="pager" aria-label="Pages of deliveries">
      {query.get('before') !== null && <a href={hrefWith({ before: null })}>Newest</a>}
      {nextBefore !== null && <a href={hrefWith({ before: nextBefore })}>Next page</a>}
    </nav>
  );
}
