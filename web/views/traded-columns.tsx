/** Columns of a conversion with named currencies: the amounts given and received, and the price. */
import { type Column, Value } from '../kit.ts';

export const TRADED_COLUMNS: readonly Column<unknown>[] = [
  {
    head: 'Given',
    isNumber: true,
    cell: () => (
      <>
        <Value at="amountIn" as="amount" /> <Value at="fromCurrencyName" as="name" why="unknown here" />
      </>
    ),
  },
  {
    head: 'Received',
    isNumber: true,
    cell: () => (
      <>
        <Value at="amountOut" as="amount" why="nothing was paid out" />{' '}
        <Value at="toCurrencyName" as="name" why="unknown here" />
      </>
    ),
  },
  { head: 'Price', at: 'price', as: 'price', why: 'nothing was paid out' },
];
