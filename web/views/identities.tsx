/** Identities of a chain, newest registration first, and how many there are. */
import { Currency, Field, Fields, hrefOf, Pager, Panel, Pick, Table, Value, type ViewProps } from '../kit.ts';

const STATUSES = ['unlocked', 'locked', 'unlocking', 'revoked'] as const;

export function View({ parts: { chain }, query, answers: [identities, stats] }: ViewProps<'identities'>) {
  return (
    <>
      <Panel title="How many" answer={stats} frame="short">
        {() => (
          <Fields>
            <Field label="Of all chains">
              <Value at="/total" as="integer" />
            </Field>
            <Field label={`Of ${chain}`}>
              <Value at={`/chains/${chain}/total`} as="integer" />
            </Field>
            <Field label="Registered in 30 days">
              <Value at={`/chains/${chain}/registered30d`} as="integer" />
            </Field>
            <Field label="Revoked">
              <Value at={`/chains/${chain}/revoked`} as="integer" />
            </Field>
            <Field label="Locked">
              <Value at={`/chains/${chain}/locked`} as="integer" />
            </Field>
            <Field label="With content">
              <Value at={`/chains/${chain}/withContent`} as="integer" />
            </Field>
          </Fields>
        )}
      </Panel>
      <form class="filter" aria-label="Filter identities">
        <Pick name="status" options={STATUSES} query={query} />
      </form>
      <Panel title="Newest registration first" answer={identities} isList frame="tall">
        {({ results, page, totalPages }) => (
          <>
            <Table
              at="/results"
              rows={results}
              caption={`Identities of ${chain}`}
              empty="The chain has no such identity."
              columns={[
                {
                  head: 'Name',
                  cell: ({ identityAddress }) => (
                    <Value
                      at="fullyQualifiedName"
                      as="name"
                      href={hrefOf('identity', { chain, name: identityAddress })}
                    />
                  ),
                },
                { head: 'Address', cell: () => <Value at="identityAddress" as="id" /> },
                { head: 'Parent', cell: () => <Currency chain={chain} name="parentName" id="parent" /> },
                {
                  head: 'Status',
                  cell: ({ status }) => (
                    <span class={`status ${status}`}>
                      <Value at="status" as="word" />
                    </span>
                  ),
                },
                {
                  head: 'Registered in block',
                  isNumber: true,
                  cell: ({ registeredAt }) => (
                    <Value at="registeredAt" as="integer" href={hrefOf('block', { chain, block: registeredAt })} />
                  ),
                },
                {
                  head: 'Updated in block',
                  isNumber: true,
                  cell: ({ height }) => (
                    <Value at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
                  ),
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
