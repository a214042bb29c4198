/** A conversion: its way from the request to the payout, and what it was worth and why. */
import { type Answer, At, NotThere, Panel, RevertedBanner, type ViewProps } from '../kit.ts';
import { Explanation } from './conversion-explanation.tsx';
import { Flow, type Leg } from './conversion-flow.tsx';
import { Worth } from './conversion-worth.tsx';

interface Key {
  readonly chain: string;
  readonly txid: string;
  readonly vout: string;
}

export function View({ parts: { chain, txid, vout }, answers: [transaction, valued] }: ViewProps<'conversion'>) {
  const [shown, shownWorth] = [transaction.shown.value, valued.shown.value];
  const isIt = (row: Key) => row.chain === chain && row.vout === vout && row.txid === txid.toLowerCase();
  const leg = shown?.data.conversions.find(isIt);
  if (shown && shownWorth && !leg && !shownWorth.data.data.some(isIt)) {
    return <NotThere what={`Transaction ${txid} requested no conversion by its output ${vout}.`} />;
  }
  return (
    <>
      {leg && <RevertedBanner chain={chain} height={leg.height} readAt={shown?.at ?? 0} />}
      <FlowPanel answer={transaction} isIt={isIt} chain={chain} />
      <WorthPanels answer={valued} isIt={isIt} chain={chain} />
    </>
  );
}

interface FlowProps {
  readonly answer: Answer<'/api/tx/{txid}'>;
  readonly isIt: (row: Key) => boolean;
  readonly chain: string;
}

function FlowPanel({ answer, isIt, chain }: FlowProps) {
  return (
    <Panel title="From request to payout" answer={answer} frame="tall">
      {({ conversions }) => {
        const index = conversions.findIndex(isIt);
        const leg: Leg | undefined = conversions[index];
        if (!leg) return <p class="empty">The transaction names no such conversion.</p>;
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

function WorthPanels({ answer, isIt, chain }: WorthProps) {
  return (
    <>
      <Panel title="What it was worth" answer={answer} frame="medium">
        {({ data }) => {
          const index = data.findIndex(isIt);
          const valuation = data[index];
          if (!valuation) return <p class="empty">No stamp tells what it was worth.</p>;
          return (
            <At at={`/data/${index}`}>
              <Worth valuation={valuation} chain={chain} />
            </At>
          );
        }}
      </Panel>
      <Panel title="How the value was computed" answer={answer} frame="medium">
        {({ data }) => {
          const index = data.findIndex(isIt);
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
