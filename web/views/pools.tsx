/** Where the native coin is pooled. */
import { Field, Fields, hrefOf, Panel, Share, Table, Value, type ViewProps } from '../kit.ts';

export function View({ answers: [pools] }: ViewProps<'pools'>) {
  return (
    <Panel title="The native coin in baskets" answer={pools} frame="tall">
      {({ pools: rows }) => (
        <>
          <Fields>
            <Field label="Coins in baskets">
              <Value at="total" as="amount" />
            </Field>
            <Field label="Worth">
              <Value at="totalUsd" as="usd" unit="USD" why="the native coin has no price" />
            </Field>
          </Fields>
          <Table
            at="/pools"
            rows={rows}
            caption="Baskets that hold the native coin, the largest first"
            empty="No basket holds the native coin."
            columns={[
              {
                head: 'Basket',
                cell: ({ basketId }) => <Value at="basket" as="name" href={hrefOf('basket', { basket: basketId })} />,
              },
              { head: 'Chain', cell: () => <Value at="chain" as="word" /> },
              { head: 'Holds', isNumber: true, cell: () => <Value at="amount" as="amount" /> },
              {
                head: 'Worth',
                isNumber: true,
                cell: () => <Value at="usdValue" as="usd" unit="USD" why="the native coin has no price" />,
              },
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
