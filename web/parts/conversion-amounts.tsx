/** The amounts of a conversion, each with its currency. */
import { Currency } from './party.tsx';
import { Value } from './value.tsx';

interface AmountProps {
  /** Chain whose views the currency is linked to. */
  readonly chain: string;
}

export function Given({ chain }: AmountProps) {
  return (
    <>
      <Value at="amountIn" as="amount" />{' '}
      <Currency chain={chain} name="fromCurrencyName" id="fromCurrencyId" why="not known here" />
    </>
  );
}

export function Paid({ chain, why = 'nothing was paid out' }: AmountProps & { readonly why?: string }) {
  return (
    <>
      <Value at="amountOut" as="amount" why={why} /> <Currency chain={chain} name="toCurrencyName" id="toCurrencyId" />
    </>
  );
}
