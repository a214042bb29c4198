/** The stages of a conversion across chains: each with its block, its time, and what happened to the amount. */
import type { ComponentChildren } from 'preact';
import { type AnswerOf, Currency, Field, Given, hrefOf, Paid, Party, Status, shownSpan, Value } from '../kit.ts';

export type Leg = AnswerOf<'/api/tx/{txid}'>['conversions'][number];
type StageName = 'request' | 'export' | 'import' | 'payout' | 'next-leg';
export type StageState = 'done' | 'waiting' | 'refunded' | 'none';

interface StageProps {
  readonly name: StageName;
  readonly title: string;
  readonly state: StageState;
  readonly says: string;
  readonly children?: ComponentChildren;
}

export function Stage({ name, title, state, says, children }: StageProps) {
  return (
    <li data-stage={name} data-state={state}>
      <div class="stage-head">
        <h3>{title}</h3>
        <span class={`stage-state ${state}`}>{state}</span>
      </div>
      <p class="muted">{says}</p>
      {children}
    </li>
  );
}

export function Flow({ leg, chain }: { readonly leg: Leg; readonly chain: string }) {
  const source = leg.sourceSystemId === null ? chain : leg.sourceChain; // null: the chain is not indexed here
  const importChain = leg.importChain ?? chain;
  return (
    <>
      <Facts leg={leg} />
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari does not expose a list without bullets as a list */}
      <ol role="list" class="flow" data-testid="flow">
        <Stage name="request" title="Request" state="done" says={requestSays(leg)}>
          <dl class="stage">
            <Field label="Given">
              <Given chain={chain} />
            </Field>
            <Field label="By">
              <Party at="source" chain={source ?? chain} why="on another system" />
            </Field>
            <Field label="Transaction">
              <Value at="txid" as="id" href={source && hrefOf('tx', { chain: source, txid: leg.txid })} />
            </Field>
            {leg.sourceSystemId === null && <Block at="height" chain={chain} height={leg.height} time="time" />}
          </dl>
        </Stage>
        <Stage name="export" title="Export" state={exportState(leg)} says={exportSays(leg)}>
          <dl class="stage">
            <Field label="Transaction">
              <Value
                at="exportTxid"
                as="id"
                why={leg.status === 'pending' ? 'not gathered yet' : 'it needed no export'}
                href={source && leg.exportTxid && hrefOf('tx', { chain: source, txid: leg.exportTxid })}
              />
            </Field>
            {leg.exportHeight !== null && source !== null && (
              <Block at="exportHeight" chain={source} height={leg.exportHeight} time="exportTime" />
            )}
          </dl>
        </Stage>
        <Stage name="import" title="Import" state={leg.importTxid ? 'done' : 'waiting'} says={importSays(leg)}>
          <dl class="stage">
            {leg.viaCurrencyId !== null && (
              <Field label="Through">
                <Currency chain={importChain} name="viaCurrencyName" id="viaCurrencyId" />
              </Field>
            )}
            <Field label="Transaction">
              <Value
                at="importTxid"
                as="id"
                why="not executed yet"
                href={leg.importTxid && hrefOf('tx', { chain: importChain, txid: leg.importTxid })}
              />
            </Field>
            {leg.importHeight !== null && (
              <Block at="importHeight" chain={importChain} height={leg.importHeight} time="importTime" />
            )}
          </dl>
        </Stage>
        <Stage name="payout" title="Payout" state={payoutState(leg)} says={payoutSays(leg)}>
          <dl class="stage">
            <Field label="Paid">
              <Paid chain={importChain} why={noPayout(leg)} />
            </Field>
            <Field label="To">
              <Party at="destination" chain={importChain} why="the request names none" />
            </Field>
          </dl>
        </Stage>
        {travelsOn(leg, chain) && (
          <Stage name="next-leg" title="Next leg" state={leg.nextLegTxid ? 'done' : 'waiting'} says={nextSays(leg)}>
            <dl class="stage">
              <Field label="Goes to">
                <Currency chain={importChain} name="exportToName" id="exportTo" />
              </Field>
              <Field label="Transfer">
                <Value
                  at="nextLegTxid"
                  as="id"
                  why="not sent on yet"
                  href={leg.nextLegTxid && hrefOf('tx', { chain: importChain, txid: leg.nextLegTxid })}
                />
              </Field>
            </dl>
          </Stage>
        )}
      </ol>
    </>
  );
}

function Facts({ leg }: { readonly leg: Leg }) {
  return (
    <dl class="facts">
      <Field label="Status">
        <Status is={leg.status} />
      </Field>
      <Field label="Kind" at="type" as="word" />
      <Field label="Price" at="price" as="price" why="nothing was paid out" />
      <Field label="Conversion fee">
        <Value at="fee" as="amount" /> {leg.fromCurrencyName !== null && <Value at="fromCurrencyName" as="name" />}
      </Field>
      <Field label="Waited">
        {leg.latencySeconds !== null && (
          <>
            <Value at="latencySeconds">{shownSpan(Number(leg.latencySeconds) * 1000)}</Value>
            {leg.latencyBlocks !== null && ','}
          </>
        )}{' '}
        {(leg.latencyBlocks !== null || leg.latencySeconds === null) && (
          <Value at="latencyBlocks" as="integer" unit="blocks" why="not executed" />
        )}
      </Field>
      {leg.reason !== null && <Field label="Reason" at="reason" as="word" />}
    </dl>
  );
}

interface BlockProps {
  readonly at: string;
  readonly time: string;
  readonly chain: string;
  readonly height: string;
}

function Block({ at, chain, height, time }: BlockProps) {
  return (
    <Field label="Block">
      <Value at={at} as="integer" href={hrefOf('block', { chain, block: height })} /> <Value at={time} as="time" />
    </Field>
  );
}

function requestSays({ sourceSystemId, sourceChain }: Leg): string {
  if (sourceSystemId === null) return 'An output asks for the conversion.';
  return sourceChain === null ? 'Asked for on a system that is not indexed here.' : `Asked for on ${sourceChain}.`;
}

function exportState({ exportTxid, status }: Leg): StageState {
  if (exportTxid !== null) return 'done';
  return status === 'pending' ? 'waiting' : 'none';
}

function exportSays(leg: Leg): string {
  switch (exportState(leg)) {
    case 'done':
      return 'Gathered with other requests for the same basket.';
    case 'waiting':
      return 'Waits to be gathered with other requests.';
    default:
      return 'The conversion needed no export.';
  }
}

function importSays({ importTxid, importChain, status }: Leg): string {
  if (importTxid !== null) return `Executed on ${importChain ?? 'its system'}, all requests of the block at one price.`;
  return status === 'pending' ? 'Waits for the import that executes it.' : 'No import is known.';
}

function payoutState({ status }: Leg): StageState {
  if (status === 'completed') return 'done';
  if (status === 'refunded') return 'refunded';
  return status === 'pending' ? 'waiting' : 'none';
}

function payoutSays({ status, type }: Leg): string {
  switch (status) {
    case 'completed':
      return type === 'burn' ? 'Burnt: nothing is paid for it.' : 'Paid by an output of the import.';
    case 'refunded':
      return 'The given amount was returned.';
    case 'unmatched':
      return 'No output of the import could be identified as its payout.';
    case 'pending':
      return 'Follows with the import.';
  }
}

function noPayout({ status }: Leg): string {
  return status === 'pending' ? 'not paid yet' : 'nothing was paid out';
}

/** Whether the payout leaves the chain that executed the conversion. A request reaches another chain by its export. */
function travelsOn({ nextLegTxid, exportTo, importChain }: Leg, chain: string): boolean {
  return nextLegTxid !== null || (exportTo !== null && importChain === chain);
}

function nextSays({ nextLegTxid }: Leg): string {
  return nextLegTxid === null ? 'The payout waits to travel on.' : 'The payout travels on to another system.';
}
