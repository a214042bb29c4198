/** Transactions that wait for a block, and their outcomes: always shown differently from confirmed data. */
import { useEffect } from 'preact/hooks';
import { hrefOf } from '../addresses.ts';
import type { Answer } from '../state/answers.ts';
import { now } from '../state/clock.ts';
import { mempoolOf, type Outcome, outcomeOf, outcomes, standingOf, type Waiting } from '../state/mempool.ts';
import { isLow } from '../state/meter.ts';
import { shownNumber } from '../text/numbers.ts';
import { shownSpan } from '../text/times.ts';
import { poll } from './refresh.ts';
import { Id } from './text.tsx';

export function Unconfirmed() {
  return <span class="badge unconfirmed">unconfirmed</span>;
}

/** From here on neighbouring doubles are more than a satoshi apart, so that the last digits would be made up. */
const EXACT_BELOW = 2 ** 26;
const CERTAIN_DIGITS = 15;

/** An amount of coins from the stream, with the digits that a double keeps. The surrounding element carries the event's mark. */
export function StreamedCoins({ amount }: { readonly amount: number }) {
  const digits = Math.abs(amount) < EXACT_BELOW ? amount.toFixed(8) : amount.toPrecision(CERTAIN_DIGITS);
  return (
    <data class="number" value={digits}>
      {shownNumber(digits, 'amount')}
    </data>
  );
}

interface StreamedProps {
  readonly chain: string;
  readonly txid: string;
}

export function TransactionLink({ chain, txid }: StreamedProps) {
  return (
    <a href={hrefOf('tx', { chain, txid })}>
      <Id id={txid} />
    </a>
  );
}

export function OutcomeText({ outcome: { chain, data } }: { readonly outcome: Outcome }) {
  const { reason, byTxid, height } = data;
  const block = height !== null && <a href={hrefOf('block', { chain, block: String(height) })}>{height}</a>;
  const other = byTxid !== null && <TransactionLink chain={chain} txid={byTxid} />;
  switch (reason) {
    case 'mined':
      return <>mined in block {block}</>;
    case 'conflicting':
      return (
        <>
          no block can hold it any more: {other} in block {block} spends the same outputs
        </>
      );
    case 'replaced':
      return <>replaced by {other}, which spends the same outputs</>;
    case 'expired':
      return <>no block may hold it any more: its expiry height has passed</>;
    case 'dropped':
      return <>the daemon no longer holds it; it may come back</>;
    case 'left_out':
      return <>it still waits, but this service has no room for its fee rate</>;
  }
}

/** How long an outcome is news. */
const NEWS_MS = 600_000;

/** Returns the news of the stream that an answer lacks, of the transactions that `touches` selects; `known` are the ids in the answer. */
export function newsSince(chain: string, known: ReadonlySet<string>, touches: (data: Waiting['data']) => boolean) {
  return {
    waiting: [...mempoolOf(chain).waiting.values()].filter(({ data }) => !known.has(data.txid) && touches(data)),
    gone: outcomes.value.filter(
      ({ chain: of, data, was, at }) =>
        of === chain && !known.has(data.txid) && was !== null && touches(was) && now.value - at < NEWS_MS,
    ),
  };
}

export function GoneNews({ outcome }: { readonly outcome: Outcome }) {
  const { chain, data, cursor } = outcome;
  return (
    <li data-txid={data.txid} data-state={data.reason} data-event="mempool_gone" data-cursor={cursor}>
      <TransactionLink chain={chain} txid={data.txid} /> <OutcomeText outcome={outcome} />
    </li>
  );
}

interface StandingProps extends StreamedProps {
  readonly answer: Answer;
  /** Whether the shown answer says that the transaction waits; null where no answer is shown. */
  readonly isWaiting: boolean | null;
}

/** Interval of requests after the stream has made the shown answer outdated. */
const AGAIN_MS = 5_000;

function useFresh({ answer, chain, txid, isWaiting }: StandingProps): void {
  const standing = standingOf(chain, txid);
  const isGone = standing === 'absent' || outcomeOf(chain, txid)?.data.reason === 'mined';
  const isUnknown = answer.trouble.value?.status === 404;
  const isOutdated = isWaiting ? isGone && !isUnknown : isWaiting === null && standing === 'waiting';
  useEffect(() => {
    if (!isOutdated) return undefined;
    poll(answer); // a request that is already running may have the news; otherwise the timer repeats it
    const timer = setInterval(() => !isLow.value && poll(answer), AGAIN_MS);
    return () => clearInterval(timer);
  }, [answer, isOutdated]);
}

/** Shows whether the transaction of a view waits, and its outcome. */
export function StandingBanner(props: StandingProps) {
  const { chain, txid, answer, isWaiting } = props;
  useFresh(props);
  const outcome = outcomeOf(chain, txid);
  if (outcome) {
    const { reason } = outcome.data;
    const isOver = isWaiting || (isWaiting === null && reason !== 'mined');
    if (!isOver && reason !== 'mined') return null;
    return (
      <p
        class={reason === 'mined' ? 'banner settled' : 'banner'}
        role="status"
        data-testid="unconfirmed"
        data-state={reason}
        data-event="mempool_gone"
        data-cursor={outcome.cursor}
      >
        <strong>{reason === 'mined' ? 'Confirmed' : 'No longer waits'}</strong>
        <span>
          {/* Hidden from screen readers, which would read the whole banner again every second. */}
          <span aria-hidden="true">{shownSpan(now.value - outcome.at)} ago: </span>
          <OutcomeText outcome={outcome} />.
        </span>
      </p>
    );
  }
  if (!isWaiting) return null;
  const isLost = standingOf(chain, txid) === 'absent' && answer.trouble.value?.status === 404;
  return (
    <p class="banner" role="status" data-testid="unconfirmed" data-state={isLost ? 'absent' : 'waiting'}>
      <strong>{isLost ? 'No longer waits' : 'Unconfirmed'}</strong>
      <span>
        {isLost
          ? 'No block contains it. The data below shows what it would have done.'
          : 'It waits for a block. The data below takes effect once a block contains it.'}
      </span>
    </p>
  );
}
