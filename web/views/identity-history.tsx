/** What each update of an identity changed, newest first. */
import { type Answer, At, hrefOf, JsonTree, Panel, replaceQuery, Value } from '../kit.ts';

/** Of a tree: so deep that the values of a content map stand open. */
const FOLDED = -3;

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
                  {changes.length === 0 ? (
                    <p class="muted">The first state, or the same as before.</p>
                  ) : (
                    <dl class="diff">
                      {changes.map(({ field }, place) => (
                        <At key={field} at={`changes/${place}`}>
                          <div data-item={`/${index}/changes/${place}`}>
                            <dt>
                              <Value at="field" />
                            </dt>
                            <dd class="old">
                              <JsonTree at="old" depth={FOLDED} />
                            </dd>
                            <dd class="new">
                              <JsonTree at="new" depth={FOLDED} />
                            </dd>
                          </div>
                        </At>
                      ))}
                    </dl>
                  )}
                </li>
              </At>
            ))}
          </ol>
        )
      }
    </Panel>
  );
}
