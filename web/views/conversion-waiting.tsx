/** The stages of a conversion whose request is not in a block yet, so that none of them has happened. */
import { type Answer, At, Field, hrefOf, now, outcomeOf, Panel, Party, shownSpan, Unconfirmed, Value } from '../kit.ts';
import { Stage, type StageState } from './conversion-flow.tsx';
import { CurrencyById } from './tx-waiting.tsx';

interface WaitingFlowProps {
  readonly answer: Answer<'/api/tx/{txid}'>;
  /** Index of the conversion in the list of waiting conversions. */
  readonly index: number;
  readonly chain: string;
}

const LATER: readonly (readonly ['export' | 'import' | 'payout', string, string])[] = [
  ['export', 'Export', 'Follows once the request is in a block.'],
  ['import', 'Import', 'Waits for the export: no price is known before it.'],
  ['payout', 'Payout', 'Follows with the import.'],
];

export function WaitingFlow({ answer, index, chain }: WaitingFlowProps) {
  return (
    <Panel title="From request to payout" answer={answer} frame="tall">
      {({ txid, unconfirmed }) => {
        const leg = unconfirmed?.conversions[index];
        if (!unconfirmed || !leg) return <p class="empty">The transaction contains no such conversion.</p>;
        const reason = outcomeOf(chain, txid)?.data.reason ?? null;
        // The view reloads when the transaction is mined; a fee rate too low for this service does not end it.
        const isOver = reason !== null && reason !== 'mined' && reason !== 'left_out';
        const state: StageState = isOver ? 'none' : 'waiting';
        return (
          <At at={`/unconfirmed/conversions/${index}`}>
            <dl class="facts">
              <Field label="Status">
                <Unconfirmed />
              </Field>
              <Field label="Kind" at="type" as="word" />
              <Field label="Conversion fee" at="fee" as="amount" />
              <Field label="Seen at">
                <Value at="/unconfirmed/seenAt" as="time" />{' '}
                <span class="muted" data-derived="age">
                  {shownSpan(now.value - Number(unconfirmed.seenAt) * 1000)} ago
                </span>
              </Field>
            </dl>
            {/* biome-ignore lint/a11y/noRedundantRoles: Safari does not expose a list without bullets as a list */}
            <ol role="list" class="flow" data-testid="flow">
              <Stage
                name="request"
                title="Request"
                state={state}
                says={isOver ? 'No block will hold the request.' : 'The request waits for a block.'}
              >
                <dl class="stage">
                  <Field label="Given">
                    <Value at="amountIn" as="amount" />{' '}
                    <CurrencyById at="fromCurrencyId" id={leg.fromCurrencyId} chain={chain} />
                  </Field>
                  <Field label="By">
                    <Party at="source" chain={chain} why="what pays for it is not known" />
                  </Field>
                  <Field label="Transaction" at="/txid" as="id" href={hrefOf('tx', { chain, txid })} />
                </dl>
              </Stage>
              {LATER.map(([name, title, says]) => (
                <Stage key={name} name={name} title={title} state={state} says={isOver ? 'It will not happen.' : says}>
                  {name === 'import' && (
                    <dl class="stage">
                      <Field label="By">
                        <CurrencyById at="basketId" id={leg.basketId} chain={chain} />
                      </Field>
                      {leg.viaCurrencyId !== null && (
                        <Field label="Through">
                          <CurrencyById at="viaCurrencyId" id={leg.viaCurrencyId} chain={chain} />
                        </Field>
                      )}
                    </dl>
                  )}
                  {name === 'payout' && (
                    <dl class="stage">
                      <Field label="In">
                        <CurrencyById at="toCurrencyId" id={leg.toCurrencyId} chain={chain} />
                      </Field>
                      <Field label="To">
                        <Party at="destination" chain={chain} why="the request names none" />
                      </Field>
                    </dl>
                  )}
                </Stage>
              ))}
            </ol>
          </At>
        );
      }}
    </Panel>
  );
}
