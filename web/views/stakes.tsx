/** Staked blocks with the coins that won them. */
import { hrefOf, nativeNameOf, Pager, Panel, Party, Table, Value, type ViewProps } from '../kit.ts';

export function View({ parts: { chain }, answers: [stakes] }: ViewProps<'stakes'>) {
  const unit = nativeNameOf(chain);
  return (
    <Panel title="Newest first" answer={stakes} isList frame="tall">
      {({ results, page, totalPages }) => (
        <>
          <Table
            at="/results"
            rows={results}
            caption={`Staked blocks of ${chain}`}
            empty="No block of the chain was staked."
            columns={[
              {
                head: 'Block',
                isNumber: true,
                cell: ({ height }) => (
                  <Value at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
                ),
              },
              { head: 'Time', cell: () => <Value at="time" as="time" /> },
              { head: 'Staker', cell: () => <Party at="address" chain={chain} why="its script names none" /> },
              { head: 'Rewarded', cell: () => <Party at="rewardAddress" chain={chain} why="its script names none" /> },
              {
                head: 'Coins that won',
                isNumber: true,
                cell: () => <Value at="stakeAmount" as="amount" unit={unit} />,
              },
              {
                head: 'Their output',
                cell: ({ stakeTxid }) => (
                  <Value at="stakeTxid" as="id" href={hrefOf('tx', { chain, txid: stakeTxid })} />
                ),
              },
              { head: 'Reward', isNumber: true, cell: () => <Value at="reward" as="amount" unit={unit} /> },
            ]}
          />
          <Pager page={page} totalPages={totalPages} />
        </>
      )}
    </Panel>
  );
}
