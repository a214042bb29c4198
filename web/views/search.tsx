/** What a text leads to, on every chain. */
import { type AnswerOf, hrefOf, Panel, Table, Value, type ViewProps } from '../kit.ts';

type Result = AnswerOf<'/api/search/'>['results'][number];

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
            { head: 'Name', cell: (result) => <Value at="label" as="name" href={hrefTo(result)} /> },
            { head: 'Chain', cell: () => <Value at="chain" as="word" /> },
            { head: 'Id', cell: () => <Value at="id" as="id" /> },
          ]}
        />
      )}
    </Panel>
  );
}

function hrefTo({ type, id, chain, url }: Result): string {
  switch (type) {
    case 'block':
      return hrefOf('block', { chain, block: new URL(url, location.origin).pathname.split('/').at(-1) ?? id });
    case 'tx':
      return hrefOf('tx', { chain, txid: id });
    case 'address':
      return hrefOf('address', { chain, addr: id });
    case 'identity':
      return hrefOf('identity', { chain, name: id });
    case 'currency':
    case 'basket':
      return hrefOf('currency', { chain, id });
  }
}
