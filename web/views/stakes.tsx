/** Staked blocks, each with the coins that won it. */
import {
  AddressLink,
  blockColumn,
  hrefOf,
  nativeNameOf,
  PagedTable,
  Panel,
  useLeaf,
  usePointer,
  Value,
  type ViewProps,
} from '../kit.ts';

export function View({ parts: { chain }, answers: [stakes] }: ViewProps<'stakes'>) {
  const unit = nativeNameOf(chain);
  return (
    <Panel title="Newest first" answer={stakes} isList frame="tall">
      {(list) => (
        <PagedTable
          list={list}
          caption={`Staked blocks of ${chain}`}
          empty="No block of the chain was staked."
          columns={[
            blockColumn('Block', 'height', chain),
            { head: 'Time', at: 'time', as: 'time' },
            { head: 'Staker', cell: () => <Named name="name" address="address" chain={chain} /> },
            { head: 'Rewarded', cell: () => <Named name="rewardName" address="rewardAddress" chain={chain} /> },
            { head: 'Coins that won', at: 'stakeAmount', as: 'amount', unit },
            {
              head: 'Their output',
              at: 'stakeTxid',
              as: 'id',
              href: ({ stakeTxid }) => hrefOf('tx', { chain, txid: stakeTxid }),
            },
            { head: 'Reward', at: 'reward', as: 'amount', unit },
          ]}
        />
      )}
    </Panel>
  );
}

interface NamedProps {
  /** Pointer to the name, which only identities have. */
  readonly name: string;
  readonly address: string;
  readonly chain: string;
}

function Named({ name, address, chain }: NamedProps) {
  const [nameLeaf, addressLeaf] = [useLeaf(usePointer(name)), useLeaf(usePointer(address))];
  return (
    <>
      {nameLeaf.kind === 'string' && addressLeaf.kind === 'string' && (
        <div>
          <Value at={name} as="name" href={hrefOf('identity', { chain, name: addressLeaf.text })} />
        </div>
      )}
      <AddressLink at={address} chain={chain} why="its script names none" />
    </>
  );
}
