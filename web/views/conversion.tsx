/** A conversion: its stages from the request to the payout, its value, and how the value was computed. */
import { useEffect } from 'preact/hooks';
import { type Answer, At, NotThere, Panel, RevertedBanner, StandingBanner, type ViewProps } from '../kit.ts';
import { Explanation } from './conversion-explanation.tsx';
import { Flow, type Leg } from './conversion-flow.tsx';
import { WaitingFlow } from './conversion-waiting.tsx';
import { Worth } from './conversion-worth.tsx';

interface Key {
  readonly chain: string;
  readonly txid: string;
  readonly vout: string;
}

/** Returns the index of this conversion in a list; in a list of the other chain, a conversion across two chains has that chain's name. */
type Find = (rows: readonly Key[]) => number;

export function View({ parts: { chain, txid, vout }, query, answers }: ViewProps<'conversion'>) {
  const [transaction, valued] = answers;
  const [shown, shownWorth] = [transaction.shown.value, valued.shown.value];
  const isIt = (row: Key) => row.vout === vout && row.txid === txid.toLowerCase();
  const find: Find = (rows) => {
    const here = rows.findIndex((row) => isIt(row) && row.chain === chain);
    return here >= 0 ? here : rows.findIndex(isIt);
  };
  const leg = shown?.data.conversions[find(shown.data.conversions)];
  const waiting = shown?.data.unconfirmed?.conversions.findIndex((row) => row.vout === vout) ?? -1;
  const isValued = shownWorth !== null && find(shownWorth.data.data) >= 0;
  const isAnswered = shown !== null && (shownWorth !== null || valued.trouble.value?.status === 404);
  const isMissing = isAnswered && !leg && waiting < 0 && !isValued;
  useEffect(() => {
    if (leg && valued.trouble.value?.status === 404) valued.refresh();
  }, [leg === undefined, valued]);
  const banner = { answer: transaction, chain, txid: (query.get('in') ?? txid).toLowerCase() };
  return (
    <>
      <StandingBanner {...banner} isWaiting={shown ? shown.data.height === null : null} />
      <RevertedBanner chain={chain} height={leg?.height} readAt={shown?.at} />
      {isMissing && <NotThere what={`Transaction ${txid} requested no conversion by its output ${vout}.`} />}
      {isMissing ? null : waiting >= 0 ? (
        <WaitingFlow answer={transaction} index={waiting} chain={chain} />
      ) : (
        <>
          <FlowPanel answer={transaction} find={find} chain={chain} />
          <WorthPanels answer={valued} find={find} chain={chain} />
        </>
      )}
    </>
  );
}

interface FlowProps {
  readonly answer: Answer<'/api/tx/{txid}'>;
  readonly find: Find;
  readonly chain: string;
}

function FlowPanel({ answer, find, chain }: FlowProps) {
  return (
    <Panel title="From request to payout" answer={answer} frame="tall">
      {({ conversions }) => {
        const index = find(conversions);
        const leg: Leg | undefined = conversions[index];
        if (!leg) return <p class="empty">The transaction contains no such conversion.</p>;
        return (
          <At at={`/conversions/${index}`}>
            <Flow leg={leg} chain={chain} />
          </At>
        );
      }}
    </Panel>
  );
}

interface WorthProps extends Omit<FlowProps, 'answer'> {
  readonly answer: Answer<'/api/oracle/conversions/{txid}'>;
}

function WorthPanels({ answer, find, chain }: WorthProps) {
  return (
    <>
      <Panel title="What it was worth" answer={answer} frame="medium">
        {({ data }) => {
          const index = find(data);
          const valuation = data[index];
          if (!valuation) return <p class="empty">The value of this conversion was not recorded.</p>;
          return (
            <At at={`/data/${index}`}>
              <Worth valuation={valuation} chain={chain} />
            </At>
          );
        }}
      </Panel>
      <Panel title="How the value was computed" answer={answer} frame="medium">
        {({ data }) => {
          const index = find(data);
          return (
            <At at={`/data/${index}`}>
              <Explanation steps={data[index]?.steps ?? []} chain={chain} />
            </At>
          );
        }}
      </Panel>
    </>
  );
}
