/** The content of an identity, decoded where its bytes have a known format. */
import { type Answer, Field, Fields, JsonTree, Panel } from '../kit.ts';

export function Content({ answer }: { readonly answer: Answer<'/api/identity/{nameOrId}/multimap'> }) {
  return (
    <Panel title="Content" answer={answer} frame="medium">
      {({ contentmultimap }) => (
        <>
          <Fields>
            <Field label="As of block" at="/height" as="integer" />
            <Field label="Of" at="/mode" as="word" />
          </Fields>
          {Object.keys(contentmultimap).length === 0 ? (
            <p class="empty">Its newest update carried no content.</p>
          ) : (
            <>
              <h3>Decoded</h3>
              <JsonTree at="/decoded" />
              <h3>As the chain has it</h3>
              <JsonTree at="/contentmultimap" />
            </>
          )}
        </>
      )}
    </Panel>
  );
}
