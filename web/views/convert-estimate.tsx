/** The daemon's estimate of a conversion, with fees and pending conversions; only for readers of the tier that the API requires. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { At, ask, call, hrefOf, Panel, session, Table, Value } from '../kit.ts';

interface EstimateProps {
  readonly chain: string;
  /** i-addresses. */
  readonly from: string;
  readonly to: string;
  readonly amount: string;
  /** Shown when there is no estimate. */
  readonly otherwise: ComponentChildren;
}

export function Estimate({ chain, from, to, amount, otherwise }: EstimateProps) {
  const token = session.value?.token;
  const answer = useMemo(
    () => ask(call('/api/market/best-conversion', { query: { chain, from, to, amount } })),
    [chain, from, to, amount, token],
  );
  return (
    <>
      <Panel title={`Routes as the daemon of ${chain} estimates them`} answer={answer} frame="medium">
        {({ routes }) => (
          <>
            <p class="note">
              For <Value at="/amount" as="amount" /> <Value at="/from" as="name" />, with fees, slippage and what waits
              to be converted.
            </p>
            <Table
              at="/routes"
              rows={routes}
              caption="Routes"
              empty="No route converts this."
              columns={[
                {
                  head: 'Route',
                  cell: ({ legs }) =>
                    legs.map(({ basketId, toId }, index) => (
                      <At key={`${basketId} ${toId}`} at={`legs/${index}`}>
                        <span class="leg">
                          through <Value at="basket" as="name" href={hrefOf('basket', { basket: basketId })} /> to{' '}
                          <Value at="to" as="name" />
                        </span>
                      </At>
                    )),
                },
                { head: 'Legs', at: 'hops', as: 'integer' },
                { head: 'Output', at: 'output', as: 'amount' },
                { head: 'Rate', at: 'rate', as: 'price' },
                { head: 'Slippage, of 1', at: 'slippage', as: 'plain' },
                {
                  head: 'Fees',
                  isNumber: true,
                  cell: ({ fees }) =>
                    fees.map(({ currencyId }, index) => (
                      <At key={currencyId} at={`fees/${index}`}>
                        <span class="leg">
                          <Value at="amount" as="amount" /> <Value at="currencyName" as="name" />
                        </span>
                      </At>
                    )),
                },
              ]}
            />
          </>
        )}
      </Panel>
      {answer.trouble.value !== null && otherwise}
    </>
  );
}
