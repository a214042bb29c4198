/** The amounts of an output or a transaction: the chain's own coin first, then other currencies, one per line. */
import { nativeNameOf } from '../state/service.ts';
import { Currency } from './party.tsx';
import { At } from './scope.tsx';
import { Value } from './value.tsx';

interface AmountsProps {
  readonly chain: string;
  /** The list at `currencies` of the scope. */
  readonly currencies: readonly { readonly currencyId: string }[];
}

export function Amounts({ chain, currencies }: AmountsProps) {
  return (
    <>
      <div>
        <Value at="value" as="amount" unit={nativeNameOf(chain)} />
      </div>
      <OtherCoins chain={chain} currencies={currencies} />
    </>
  );
}

export function OtherCoins({ chain, currencies }: AmountsProps) {
  return currencies.map(({ currencyId }, index) => (
    <At key={currencyId} at={`currencies/${index}`}>
      <div>
        <Value at="amount" as="amount" /> <Currency chain={chain} name="currencyName" id="currencyId" />
      </div>
    </At>
  ));
}
