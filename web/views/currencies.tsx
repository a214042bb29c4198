/** Currencies that are defined on a chain, newest definition first. */
import { blockColumn, hrefOf, PagedTable, Panel, Pick, type ViewProps } from '../kit.ts';

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
        {(list) => (
          <PagedTable
            list={list}
            caption={`Currencies of ${chain}`}
            empty="The chain defines no such currency."
            columns={[
              {
                head: 'Name',
                at: 'fullyQualifiedName',
                as: 'name',
                href: ({ currencyId }) => hrefOf('currency', { chain, id: currencyId }),
              },
              { head: 'Id', at: 'currencyId', as: 'id' },
              { head: 'Kind', at: 'type', as: 'word' },
              { head: 'Launch', at: 'launch', as: 'word' },
              { head: 'Starts at block', at: 'startBlock', as: 'integer' },
              blockColumn('Defined in block', 'definitionHeight', chain),
              { head: 'Supply', at: 'supply', as: 'amount', why: 'it has no state on this chain' },
            ]}
          />
        )}
      </Panel>
    </>
  );
}
