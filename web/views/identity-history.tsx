/** The changes of each update of an identity, newest first. */
import { type Answer, type AnswerOf, At, hrefOf, Pager, Panel, replaceQuery, Value } from '../kit.ts';
import { Diff } from './identity-diff.tsx';

type Changes = AnswerOf<'/api/identity/{nameOrId}/changes'>;
type Update = Extract<Changes, readonly unknown[]>[number];

interface UpdatesIn {
  /** Newest first. */
  readonly updates: readonly Update[];
  /** Total number of updates when `updates` is one page of them; null when it has all. */
  readonly total: string | null;
}

/** Accepts both shapes of the answer. */
export function updatesIn(changes: Changes): UpdatesIn {
  if (!('results' in changes)) return { updates: changes, total: null };
  const { results, total } = changes;
  return { updates: results, total: Number(total) > results.length ? total : null };
}

interface HistoryProps {
  readonly answer: Answer<'/api/identity/{nameOrId}/changes'>;
  readonly chain: string;
}

export function History({ answer, chain }: HistoryProps) {
  return (
    <Panel title="Updates" answer={answer} frame="tall">
      {(changes) => {
        if (!('results' in changes)) return <Updates at="" updates={changes} chain={chain} />;
        const { results, page, pageSize, totalPages } = changes;
        return (
          <>
            <Updates at="/results" updates={results} chain={chain} />
            <Pager page={page} pageSize={pageSize} totalPages={totalPages} />
          </>
        );
      }}
    </Panel>
  );
}

interface UpdatesProps {
  /** JSON pointer of the list. */
  readonly at: string;
  readonly updates: readonly Update[];
  readonly chain: string;
}

function Updates({ at, updates, chain }: UpdatesProps) {
  return (
    <ol class="updates">
      {updates.map(({ height, txid, changes }, index) => (
        <At key={txid} at={`${at}/${index}`}>
          <li data-item={`${at}/${index}`}>
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
            <Diff at={`${at}/${index}/changes`} changes={changes} none="The first state, or the same as before." />
          </li>
        </At>
      ))}
    </ol>
  );
}
