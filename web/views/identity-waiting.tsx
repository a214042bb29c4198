/** Updates of an identity that wait for a block: from the answer, and from the stream since then. */
import {
  type Answer,
  At,
  GoneNews,
  hrefOf,
  JsonTree,
  newsSince,
  OutcomeText,
  outcomeOf,
  Panel,
  TransactionLink,
  Unconfirmed,
  Value,
} from '../kit.ts';
import { Diff } from './identity-diff.tsx';

interface IdentityWaitingProps {
  readonly answer: Answer<'/api/identity/{nameOrId}'>;
  readonly chain: string;
}

export function IdentityWaiting({ answer, chain }: IdentityWaitingProps) {
  const shown = answer.shown.value?.data;
  if (!shown?.unconfirmed) return null;
  const { identityaddress, unconfirmed } = shown;
  const known = new Set(unconfirmed.map(({ txid }) => txid));
  const { waiting, gone } = newsSince(chain, known, ({ identities }) =>
    identities.some(({ identityAddress }) => identityAddress === identityaddress),
  );
  if (unconfirmed.length + waiting.length + gone.length === 0) return null;
  return (
    <Panel title="Waits for a block" answer={answer} frame="short">
      {() => (
        <>
          <ol class="updates">
            {unconfirmed.map(({ txid, changes }, index) => (
              <At key={txid} at={`/unconfirmed/${index}`}>
                <li data-item={`/unconfirmed/${index}`} data-txid={txid} {...stateOf(chain, txid)}>
                  <div class="update-head">
                    <strong>
                      <Value at="kind" as="word" />
                    </strong>
                    <Unconfirmed />
                    <span>
                      seen <Value at="seenAt" as="time" />
                    </span>
                    <Value at="txid" as="id" href={hrefOf('tx', { chain, txid })} />
                    <BecameOf chain={chain} txid={txid} />
                  </div>
                  <Diff at={`/unconfirmed/${index}/changes`} changes={changes} none="It changes nothing." />
                  <details>
                    <summary>The identity afterwards</summary>
                    <JsonTree at="state" />
                  </details>
                </li>
              </At>
            ))}
          </ol>
          {/* biome-ignore lint/a11y/noRedundantRoles: Safari does not expose a list without bullets as a list */}
          <ul role="list" class="news" aria-label="Since then">
            {waiting.map(({ data: { txid, identities }, event, cursor }) => (
              <li key={txid} data-txid={txid} data-state="waiting" data-event={event} data-cursor={cursor}>
                <span class="status pending">waiting</span>{' '}
                {identities
                  .filter(({ identityAddress }) => identityAddress === identityaddress)
                  .map(({ kind }) => kind.replaceAll('_', ' '))
                  .join(', ')}{' '}
                by <TransactionLink chain={chain} txid={txid} />
              </li>
            ))}
            {gone.map((outcome) => (
              <GoneNews key={outcome.data.txid} outcome={outcome} />
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function stateOf(chain: string, txid: string) {
  return { 'data-state': outcomeOf(chain, txid)?.data.reason ?? 'waiting' };
}

function BecameOf({ chain, txid }: { readonly chain: string; readonly txid: string }) {
  const outcome = outcomeOf(chain, txid);
  if (!outcome) return null;
  return (
    <span class="muted" data-event="mempool_gone" data-cursor={outcome.cursor}>
      <OutcomeText outcome={outcome} />
    </span>
  );
}
