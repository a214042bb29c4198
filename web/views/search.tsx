/** What a text leads to, on every chain. */
import { foundHref, Panel, Table, Value, type ViewProps } from '../kit.ts';

export function View({ answers: [found] }: ViewProps<'search'>) {
  return (
    <Panel title="Found" answer={found} frame="medium">
      {({ results }) => (
        <Table
          at="/results"
          rows={results}
          caption="What was found"
          empty="No block, transaction, address, identity or currency of these chains is called so."
          columns={[
            { head: 'What', cell: () => <Value at="type" as="word" /> },
            { head: 'Name', cell: (result) => <Value at="label" as="name" href={foundHref(result)} /> },
            { head: 'Chain', cell: () => <Value at="chain" as="word" /> },
            { head: 'Id', cell: () => <Value at="id" as="id" /> },
          ]}
        />
      )}
    </Panel>
  );
}
