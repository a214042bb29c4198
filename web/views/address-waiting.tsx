/** Effects of waiting transactions on an address: from the answer, and from the stream since then. */
import {
  type Answer,
  type AnswerOf,
  At,
  Field,
  GoneNews,
  hrefOf,
  Id,
  NameOf,
  nativeNameOf,
  newsSince,
  now,
  OtherCoins,
  OutcomeText,
  outcomeOf,
  Panel,
  StreamedCoins,
  shownSpan,
  Table,
  TransactionLink,
  Unconfirmed,
  Value,
} from '../kit.ts';

interface AddressWaitingProps {
  readonly answer: Answer<'/api/address/{addr}'>;
  readonly chain: string;
}

type Part = NonNullable<AnswerOf<'/api/address/{addr}'>['unconfirmed']>;

export function AddressWaiting({ answer, chain }: AddressWaitingProps) {
  return (
    <Panel title="Waits for a block" answer={answer} frame="short">
      {({ address, unconfirmed }) =>
        unconfirmed === null ? (
          <p class="empty">The service does not know the mempool of {chain} at the moment.</p>
        ) : (
          <>
            <Answered part={unconfirmed} chain={chain} />
            <Streamed
              address={address}
              chain={chain}
              known={new Set(unconfirmed.transactions.map(({ txid }) => txid))}
            />
          </>
        )
      }
    </Panel>
  );
}

function Answered({ part: { transactions }, chain }: { readonly part: Part; readonly chain: string }) {
  const unit = nativeNameOf(chain);
  return (
    <At at="/unconfirmed">
      <dl class="facts">
        <Field label="Waiting">
          <Value at="txCount" as="integer" unit="transactions" /> <Unconfirmed />
        </Field>
        <Field label="Together" at="net" as="amount" unit={unit} />
      </dl>
      <Table
        at="transactions"
        rows={transactions}
        caption="What each waiting transaction does to the address, newest first"
        empty="No transaction of the address waits."
        columns={[
          { head: 'Seen', at: 'seenAt', as: 'time' },
          { head: 'Transaction', at: 'txid', as: 'id', href: ({ txid }) => hrefOf('tx', { chain, txid }) },
          { head: 'Type', at: 'type', as: 'word' },
          { head: 'Net', at: 'net', as: 'amount', unit },
          {
            head: 'Other currencies',
            isNumber: true,
            cell: ({ currencies }) => <OtherCoins chain={chain} currencies={currencies} />,
          },
          { head: 'State', cell: ({ txid }) => <State chain={chain} txid={txid} /> },
        ]}
      />
    </At>
  );
}

function State({ chain, txid }: { readonly chain: string; readonly txid: string }) {
  const outcome = outcomeOf(chain, txid);
  if (!outcome) {
    return (
      <span data-txid={txid} data-state="waiting">
        waiting
      </span>
    );
  }
  const { reason } = outcome.data;
  return (
    <span data-txid={txid} data-state={reason} data-event="mempool_gone" data-cursor={outcome.cursor}>
      <OutcomeText outcome={outcome} />
    </span>
  );
}

interface StreamedProps {
  readonly address: string;
  readonly chain: string;
  /** Ids of the transactions that the answer lists. */
  readonly known: ReadonlySet<string>;
}

const MOST_SHOWN = 20;

/** Transactions that the stream has sent since the answer. */
function Streamed({ address, chain, known }: StreamedProps) {
  const { waiting, gone } = newsSince(chain, known, ({ addresses }) =>
    addresses.some((one) => one.address === address),
  );
  if (waiting.length + gone.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noRedundantRoles: Safari does not expose a list without bullets as a list
    <ul role="list" class="news" aria-label="Since then">
      {waiting
        .slice(-MOST_SHOWN)
        .reverse()
        .map(({ data: { txid, seenAt, type, addresses }, event, cursor }) => (
          <li key={txid} data-txid={txid} data-state="waiting" data-event={event} data-cursor={cursor}>
            <span class="status pending">waiting</span> {type.replaceAll('_', ' ')}{' '}
            <TransactionLink chain={chain} txid={txid} />{' '}
            {addresses
              .filter((one) => one.address === address)
              .map(({ net, currencies }) => (
                <span key={address}>
                  net <StreamedCoins amount={net} /> {nativeNameOf(chain)}
                  {currencies.map(({ currencyId, amount }) => (
                    <span key={currencyId}>
                      , <StreamedCoins amount={amount} /> <Id id={currencyId} />
                      <NameOf id={currencyId} />
                    </span>
                  ))}
                </span>
              ))}{' '}
            <small class="muted">seen {shownSpan(now.value - seenAt * 1000)} ago</small>
          </li>
        ))}
      {gone.slice(0, MOST_SHOWN).map((outcome) => (
        <GoneNews key={outcome.data.txid} outcome={outcome} />
      ))}
    </ul>
  );
}
