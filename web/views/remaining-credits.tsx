/** The remaining credits of the identity, and of its keys that have their own allowance. */
import type { ComponentChildren } from 'preact';
import { type Answer, Panel, Table, useRefresh, Value } from '../kit.ts';

const EVERY_MS = 5_000;

interface RemainingCreditsProps {
  readonly answer: Answer<'/api/usage/now'>;
  /** The note below the credits, which may show values of the answer. */
  readonly note: () => ComponentChildren;
}

export function RemainingCredits({ answer, note }: RemainingCreditsProps) {
  useRefresh(answer, EVERY_MS);
  return (
    <Panel title="What remains now" answer={answer} frame="short">
      {({ creditsPerMinute, remaining, keys }) => (
        <>
          <p class="worth">
            <meter
              min={0}
              max={Number(creditsPerMinute)}
              low={Number(creditsPerMinute) * 0.2}
              value={Number(remaining)}
              aria-label="Credits of the identity"
            />
            <span>
              <strong>
                <Value at="/remaining" as="integer" />
              </strong>{' '}
              of <Value at="/creditsPerMinute" as="integer" /> credits (tier <Value at="/tier" />)
              {Number(remaining) < Number(creditsPerMinute) && (
                <>
                  , all back in <Value at="/resetSeconds" as="integer" unit="s" />
                </>
              )}
            </span>
          </p>
          <p class="note">{note()}</p>
          <Table
            at="/keys"
            rows={keys}
            caption="Keys with an allowance of their own"
            empty="No key has an allowance of its own."
            columns={[
              { head: 'Key', at: 'name', as: 'name' },
              { head: 'Id', at: 'id', as: 'id' },
              { head: 'Remaining', at: 'remaining', as: 'integer' },
              { head: 'Credits a minute', at: 'creditsPerMinute', as: 'integer' },
              { head: 'All back in', at: 'resetSeconds', as: 'integer', unit: 's' },
            ]}
          />
        </>
      )}
    </Panel>
  );
}
