/** Transfers between a chain and other systems. */
import { Currency, conversionHref, hrefOf, PagedTable, Panel, Party, Status, Value, type ViewProps } from '../kit.ts';

export function View({ parts: { chain }, answers: [transfers] }: ViewProps<'bridge'>) {
  return (
    <Panel title="Newest first" answer={transfers} isList frame="tall">
      {(list) => (
        <PagedTable
          list={list}
          caption={`Transfers between ${chain} and other systems`}
          empty="Nothing has come to the chain or left it."
          columns={[
            { head: 'Time', at: 'time', as: 'time' },
            {
              head: 'Request',
              cell: ({ type, txid, vout, direction, importTxid }) => {
                if (txid === null || vout === null) return <Value at="txid" as="id" why="on the other system" />;
                const comes = direction === 'in';
                const conversion = { chain, txid, vout, importTxid, sourceSystemId: comes ? '' : null };
                const ofTransaction = comes ? null : hrefOf('tx', { chain, txid });
                return <Value at="txid" as="id" href={type === 'send' ? ofTransaction : conversionHref(conversion)} />;
              },
            },
            { head: 'Way', at: 'direction', as: 'word' },
            {
              head: 'Kind',
              at: 'type',
              as: 'word',
              href: ({ importTxid, importChain }) =>
                importTxid === null || importChain === null
                  ? null
                  : hrefOf('tx', { chain: importChain, txid: importTxid }),
            },
            {
              head: 'System',
              cell: ({ systemName, systemChain }) => {
                const href = systemChain === null ? null : hrefOf('chain', { chain: systemChain });
                return systemName === null ? (
                  <Value at="systemId" as="id" />
                ) : (
                  <Value at="systemName" as="name" href={href} />
                );
              },
            },
            {
              head: 'Status',
              cell: ({ status }) => <Status is={status} />,
            },
            {
              head: 'Amount',
              isNumber: true,
              cell: () => (
                <>
                  <Value at="amount" as="amount" /> <Currency chain={chain} name="currency" id="currencyId" />
                </>
              ),
            },
            { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'the currency has no price' },
            {
              head: 'Arrived',
              isNumber: true,
              cell: () => (
                <>
                  <Value at="amountOut" as="amount" why="nothing has arrived" />{' '}
                  <Currency chain={chain} name="toCurrency" id="toCurrencyId" />
                </>
              ),
            },
            { head: 'From', cell: () => <Party at="sender" chain={chain} why="on the other system" /> },
            { head: 'To', cell: () => <Party at="recipient" chain={chain} why="not known" /> },
          ]}
        />
      )}
    </Panel>
  );
}
