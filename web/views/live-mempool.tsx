/** Transactions that wait for a block on each chain, as the stream sends them, and the outcomes of those that no longer wait. */
import { useMemo, useState } from 'preact/hooks';
import {
  ask,
  call,
  chainNames,
  followsStream,
  hrefOf,
  mempoolOf,
  now,
  type Outcome,
  OutcomeText,
  outcomes,
  Panel,
  StreamedCoins,
  shownNumber,
  shownSpan,
  Table,
  Text,
  TransactionLink,
  Unconfirmed,
  Value,
  type Waiting,
} from '../kit.ts';

const MOST_SHOWN = 12;
const MOST_GONE = 8;
const GONE_MS = 120_000;

export function MempoolPanel() {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="panel" aria-label="Mempool">
      <header>
        <h2>Waits for a block</h2>
        <Unconfirmed />
      </header>
      {!followsStream && <p class="empty">The stream sends waiting transactions, and this page does not follow it.</p>}
      <div class="mempools">
        {chainNames.map((chain) => (
          <MempoolOf key={chain} chain={chain} />
        ))}
      </div>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>As the API lists it</summary>
        {isOpen && chainNames.map((chain) => <Listed key={chain} chain={chain} />)}
      </details>
    </section>
  );
}

function MempoolOf({ chain }: { readonly chain: string }) {
  const { waiting, more, truncated, isWhole } = mempoolOf(chain);
  const newest = [...waiting.values()].slice(-MOST_SHOWN).reverse();
  const gone = outcomes.value.filter((outcome) => outcome.chain === chain && now.value - outcome.at < GONE_MS);
  const count = waiting.size + more;
  if (!followsStream) return null;
  return (
    <div>
      <h3>
        {chain}{' '}
        <span class="muted" data-derived="waiting">
          {isWhole ? `${count.toLocaleString('en-US')} waiting` : 'not received yet'}
        </span>
      </h3>
      {isWhole && count === 0 && gone.length === 0 && <p class="empty">Nothing waits.</p>}
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari does not expose a list without bullets as a list */}
      <ul role="list" class="news bounded" aria-label={`Mempool of ${chain}`}>
        {newest.map((one) => (
          <WaitingRow key={one.data.txid} waiting={one} />
        ))}
        {gone.slice(0, MOST_GONE).map((outcome) => (
          <GoneRow key={outcome.data.txid} outcome={outcome} />
        ))}
      </ul>
      {count > newest.length && (
        <p class="muted" data-derived="more">
          and {(count - newest.length).toLocaleString('en-US')} more
        </p>
      )}
      {truncated && <p class="muted">The daemon holds more than this service shows.</p>}
    </div>
  );
}

function WaitingRow({ waiting: { chain, data, event, cursor } }: { readonly waiting: Waiting }) {
  const { txid, seenAt, type, fee, size, conversions, identities } = data;
  return (
    <li data-txid={txid} data-state="waiting" data-event={event} data-cursor={cursor}>
      <span class="status pending">waiting</span> {type.replaceAll('_', ' ')}{' '}
      <TransactionLink chain={chain} txid={txid} />{' '}
      {conversions.map(({ vout, amountIn }) => (
        <span key={vout}>
          <a href={hrefOf('conversion', { chain, txid, vout: String(vout) })}>
            converts <StreamedCoins amount={amountIn} />
          </a>{' '}
        </span>
      ))}
      {identities.map(({ identityAddress, fullyQualifiedName, kind }) => (
        <span key={identityAddress}>
          {kind.replaceAll('_', ' ')}{' '}
          <a href={hrefOf('identity', { chain, name: identityAddress })}>
            <Text text={fullyQualifiedName} isName />
          </a>{' '}
        </span>
      ))}
      <small class="muted">
        {shownNumber(String(size), 'integer')} B
        {fee !== null && (
          <>
            , fee <StreamedCoins amount={fee} />
          </>
        )}
        , seen {shownSpan(now.value - seenAt * 1000)} ago
      </small>
    </li>
  );
}

function GoneRow({ outcome }: { readonly outcome: Outcome }) {
  const { chain, data, was, cursor } = outcome;
  return (
    <li data-txid={data.txid} data-state={data.reason} data-event="mempool_gone" data-cursor={cursor}>
      <span class={`status ${data.reason === 'mined' ? 'completed' : 'refunded'}`}>
        {data.reason.replaceAll('_', ' ')}
      </span>{' '}
      {was?.type.replaceAll('_', ' ')} <TransactionLink chain={chain} txid={data.txid} />{' '}
      <small class="muted">
        <OutcomeText outcome={outcome} />
      </small>
    </li>
  );
}

/** Requested on demand: the first paint has no credits left for it. */
function Listed({ chain }: { readonly chain: string }) {
  const answer = useMemo(() => ask(call('/api/mempool/', { query: { chain, pageSize: '50' } })), [chain]);
  return (
    <Panel title={`Mempool of ${chain}`} answer={answer} frame="short">
      {({ results }) => (
        <>
          <p class="muted">
            <Value at="/waiting" as="integer" unit="transactions" /> wait, of <Value at="/listed" as="integer" /> that
            the daemon holds.
          </p>
          <Table
            at="/results"
            rows={results}
            caption={`Transactions that wait on ${chain}, newest first`}
            empty="Nothing waits."
            columns={[
              { head: 'Seen', at: 'seenAt', as: 'time' },
              { head: 'Transaction', at: 'txid', as: 'id', href: ({ txid }) => hrefOf('tx', { chain, txid }) },
              { head: 'Type', at: 'type', as: 'word' },
              { head: 'Size', at: 'size', as: 'integer', unit: 'B' },
              { head: 'Fee', at: 'fee', as: 'amount', why: 'not all that it spends is known' },
              { head: 'Fee rate', at: 'feeRate', as: 'price', unit: 'sat/B', why: 'not all that it spends is known' },
              { head: 'Expires at', at: 'expiryHeight', as: 'integer' },
            ]}
          />
        </>
      )}
    </Panel>
  );
}
