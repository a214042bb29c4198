/** Blocks of a chain, newest first. */
import { blockColumn, nativeNameOf, PagedTable, Panel, Party, Pick, Proof, type ViewProps } from '../kit.ts';

const TYPES = ['work', 'stake'];

export function View({ parts: { chain }, query, answers: [blocks] }: ViewProps<'blocks'>) {
  const unit = nativeNameOf(chain);
  return (
    <>
      <form class="filter" aria-label="Filter blocks">
        <Pick name="validationType" options={TYPES} query={query} />
      </form>
      <Panel title="Newest first" answer={blocks} isList frame="tall">
        {(list) => (
          <PagedTable
            list={list}
            caption={`Blocks of ${chain}`}
            empty="No block of the chain is of this kind, or none is on this page."
            columns={[
              blockColumn('Height', 'height', chain),
              { head: 'Hash', at: 'hash', as: 'id' },
              { head: 'Time', at: 'time', as: 'time' },
              { head: 'By', cell: ({ validationType }) => <Proof type={validationType} /> },
              {
                head: 'Miner or staker',
                cell: () => <Party at="minerAddress" chain={chain} why="the coinbase names none" />,
              },
              { head: 'Transactions', at: 'txCount', as: 'integer' },
              { head: 'Size', at: 'size', as: 'integer', unit: 'B' },
              { head: 'Reward', at: 'blockReward', as: 'amount', unit },
            ]}
          />
        )}
      </Panel>
    </>
  );
}
