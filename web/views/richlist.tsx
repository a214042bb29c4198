/** The largest holders of a chain's own coin. */
import { hrefOf, nativeNameOf, Panel, replaceQuery, Table, type ViewProps } from '../kit.ts';

export function View({ parts: { chain }, answers: [holders] }: ViewProps<'richlist'>) {
  const unit = nativeNameOf(chain);
  return (
    <Panel title="Largest first" answer={holders} frame="tall">
      {({ results, more }) => (
        <>
          <Table
            at="/results"
            rows={results}
            caption={`Holders of ${unit}`}
            empty="No address holds a coin."
            columns={[
              { head: 'Rank', at: 'rank', as: 'integer' },
              {
                head: 'Name',
                at: 'name',
                as: 'name',
                why: 'no identity',
                href: ({ address }) => (address.startsWith('i') ? hrefOf('identity', { chain, name: address }) : null),
              },
              {
                head: 'Address',
                at: 'address',
                as: 'id',
                href: ({ address }) => hrefOf('address', { chain, addr: address }),
              },
              { head: 'Kind', at: 'type', as: 'word' },
              { head: 'Balance', at: 'balance', as: 'amount', unit },
              { head: 'Of all coins', at: 'percent', as: 'usd', unit: '%', why: 'the supply is not known' },
              { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'the coin has no price' },
            ]}
          />
          {more && results.length < MOST && (
            <button type="button" class="more" onClick={() => replaceQuery({ limit: String(MOST) })}>
              Show more
            </button>
          )}
        </>
      )}
    </Panel>
  );
}

/** The maximum that the service returns. */
const MOST = 500;
