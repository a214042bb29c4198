/** What each update of an identity changed, newest first. */
import { type Answer, At, hrefOf, Panel, replaceQuery, Value } from '../kit.ts';
import { Diff } from './identity-diff.tsx';

interface HistoryProps {
  readonly answer: Answer<'/api/identity/{nameOrId}/changes'>;
  readonly chain: string;
}

export function History({ answer, chain }: HistoryProps) {
  return (
    <Panel title="Updates" answer={answer} frame="tall">
      {(updates) =>
        Array.isArray(updates) && (
          <ol class="updates">
            {updates.map(({ height, txid, changes }, index) => (
              <At key={txid} at={`/${index}`}>
                <li data-item={`/${index}`}>
                  <div class="update-head">
                    <strong>
                      <Value at="kind" as="word" />
                    </strong>
                    <Value at="time" as="time" />
                    <span>
                      block <Value at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
                    </span>
                    <Value at="txid" as="id" href={hrefOf('tx', { chain, txid })} />
                    <button type="button" onClick={() => replaceQuery({ height })}>
                      Show this state
                    </button>
                  </div>
                  <Diff at={`/${index}/changes`} changes={changes} none="The first state, or the same as before." />
                </li>
              </At>
            ))}
          </ol>
        )
      }
    </Panel>
  );
}
