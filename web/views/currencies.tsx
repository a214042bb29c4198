/** Currencies that are defined on a chain, newest definition first. */
import { hrefOf, Pager, Panel, Pick, Table, Value, type ViewProps } from '../kit.ts';

const TYPES = ['token', 'basket', 'pbaas_chain', 'gateway', 'mapped', 'native'] as const;
const LAUNCHES = ['prelaunch', 'launched', 'refunding'] as const;

export function View({ parts: { chain }, query, answers: [currencies] }: ViewProps<'currencies'>) {
  return (
    <>
      <form class="filter" aria-label="Filter currencies">
        <Pick name="type" options={TYPES} query={query} />
        <Pick name="launch" options={LAUNCHES} query={query} />
      </form>
      <Panel title="Newest definition first" answer={currencies} isList frame="tall">
        {({ results, page, totalPages }) => (
          <>
            <Table
              at="/results"
              rows={results}
              caption={`Currencies of ${chain}`}
              empty="The chain defines no such currency."
              columns={[
                {
                  head: 'Name',
                  cell: ({ currencyId }) => (
                    <Value at="fullyQualifiedName" as="name" href={hrefOf('currency', { chain, id: currencyId })} />
                  ),
                },
                { head: 'Id', cell: () => <Value at="currencyId" as="id" /> },
                { head: 'Kind', cell: () => <Value at="type" as="word" /> },
                { head: 'Launch', cell: () => <Value at="launch" as="word" /> },
                {
                  head: 'Starts at block',
                  isNumber: true,
                  cell: () => <Value at="startBlock" as="integer" />,
                },
                {
                  head: 'Defined in block',
                  isNumber: true,
                  cell: ({ definitionHeight }) => (
                    <Value
                      at="definitionHeight"
                      as="integer"
                      href={hrefOf('block', { chain, block: definitionHeight })}
                    />
                  ),
                },
                {
                  head: 'Supply',
                  isNumber: true,
                  cell: () => <Value at="supply" as="amount" why="it has no state on this chain" />,
                },
              ]}
            />
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Panel>
    </>
  );
}
