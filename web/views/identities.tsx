/** Identities of a chain, newest registration first, and their number. */
import {
  blockColumn,
  Currency,
  Field,
  Fields,
  hrefOf,
  PagedTable,
  Panel,
  Pick,
  Status,
  type ViewProps,
} from '../kit.ts';

const STATUSES = ['unlocked', 'locked', 'unlocking', 'revoked'] as const;

export function View({ parts: { chain }, query, answers: [identities, stats] }: ViewProps<'identities'>) {
  return (
    <>
      <Panel title="How many" answer={stats} frame="short">
        {() => (
          <Fields>
            <Field label="Of all chains" at="/total" as="integer" />
            <Field label={`Of ${chain}`} at={`/chains/${chain}/total`} as="integer" />
            <Field label="Registered in 30 days" at={`/chains/${chain}/registered30d`} as="integer" />
            <Field label="Revoked" at={`/chains/${chain}/revoked`} as="integer" />
            <Field label="Locked" at={`/chains/${chain}/locked`} as="integer" />
            <Field label="With content" at={`/chains/${chain}/withContent`} as="integer" />
          </Fields>
        )}
      </Panel>
      <form class="filter" aria-label="Filter identities">
        <Pick name="status" options={STATUSES} query={query} />
      </form>
      <Panel title="Newest registration first" answer={identities} isList frame="tall">
        {(list) => (
          <PagedTable
            list={list}
            caption={`Identities of ${chain}`}
            empty="The chain has no such identity."
            columns={[
              {
                head: 'Name',
                at: 'fullyQualifiedName',
                as: 'name',
                href: ({ identityAddress }) => hrefOf('identity', { chain, name: identityAddress }),
              },
              { head: 'Address', at: 'identityAddress', as: 'id' },
              { head: 'Parent', cell: () => <Currency chain={chain} name="parentName" id="parent" /> },
              {
                head: 'Status',
                cell: ({ status }) => <Status is={status} />,
              },
              blockColumn('Registered in block', 'registeredAt', chain),
              blockColumn('Updated in block', 'height', chain),
            ]}
          />
        )}
      </Panel>
    </>
  );
}
