/** API keys of the identity that is logged in. */
import { type Answer, Panel, Table, Value, type ViewProps } from '../kit.ts';

export function View({ answers: [list] }: ViewProps<'keys'>) {
  return <Keys answer={list} />;
}

function Keys({ answer }: { readonly answer: Answer<'/api/keys'> }) {
  return (
    <Panel title="Keys of the identity" answer={answer} frame="medium">
      {({ keys }) => (
        <>
          <p class="lead">
            Tier <Value at="/tier" />: <Value at="/creditsPerMinute" as="integer" /> credits a minute, which all keys
            share.
          </p>
          <Table
            at="/keys"
            rows={keys}
            caption="Keys"
            empty="There is no key yet."
            columns={[
              { head: 'Name', cell: () => <Value at="name" as="name" /> },
              { head: 'Id', cell: () => <Value at="id" /> },
              {
                head: 'Of its own',
                isNumber: true,
                cell: () => (
                  <Value at="creditsPerMinute" as="integer" unit="a minute" why="it has those of the identity" />
                ),
              },
              { head: 'Made', cell: () => <Value at="createdAt" as="time" /> },
              { head: 'New secret', cell: () => <Value at="regeneratedAt" as="time" why="it has its first secret" /> },
              {
                head: 'Last used',
                cell: () => <Value at="lastUsedAt" as="time" why="not used in the last 400 days" />,
              },
            ]}
          />
        </>
      )}
    </Panel>
  );
}
