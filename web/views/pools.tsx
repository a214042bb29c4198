/** The native coin in the reserves of baskets. */
import { Field, Fields, hrefOf, Panel, Share, Table, type ViewProps } from '../kit.ts';

export function View({ answers: [pools] }: ViewProps<'pools'>) {
  return (
    <Panel title="The native coin in baskets" answer={pools} frame="tall">
      {({ pools: rows }) => (
        <>
          <Fields>
            <Field label="Coins in baskets" at="total" as="amount" />
            <Field label="Worth" at="totalUsd" as="usd" unit="USD" why="the native coin has no price" />
          </Fields>
          <Table
            at="/pools"
            rows={rows}
            caption="Baskets that hold the native coin, the largest first"
            empty="No basket holds the native coin."
            columns={[
              {
                head: 'Basket',
                at: 'basket',
                as: 'name',
                href: ({ basketId }) => hrefOf('basket', { basket: basketId }),
              },
              { head: 'Chain', at: 'chain', as: 'word' },
              { head: 'Holds', at: 'amount', as: 'amount' },
              { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'the native coin has no price' },
              {
                head: 'Share',
                isNumber: true,
                cell: ({ share }) => (
                  <>
                    <Share at="share" />{' '}
                    <meter class="share" min={0} max={1} value={Number(share)} aria-hidden="true" />
                  </>
                ),
              },
            ]}
          />
        </>
      )}
    </Panel>
  );
}
