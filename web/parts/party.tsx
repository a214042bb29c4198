/** Who and what: addresses and currencies as links to their views. */
import { hrefOf } from '../addresses.ts';
import { useLeaf, usePointer } from './scope.tsx';
import { Value } from './value.tsx';

interface PartyProps {
  readonly at: string;
  readonly chain: string;
  readonly why?: string;
}

/** Of a Verus chain: others are shown without a link. */
const ADDRESS = /^[bRi][1-9A-HJ-NP-Za-km-z]{33}$/;

export function Party({ at, chain, why }: PartyProps) {
  const leaf = useLeaf(usePointer(at));
  const isAddress = leaf.kind === 'string' && ADDRESS.test(leaf.text);
  return (
    <Value at={at} as="id" why={why} href={isAddress ? hrefOf('address', { chain, addr: leaf.text }) : undefined} />
  );
}

interface CurrencyProps {
  readonly chain: string;
  /** Where its name stands, which may be null. */
  readonly name: string;
  readonly id: string;
  readonly why?: string;
}

/** By its name, and by its id where it has none. */
export function Currency({ chain, name, id, why }: CurrencyProps) {
  const [nameLeaf, idLeaf] = [useLeaf(usePointer(name)), useLeaf(usePointer(id))];
  const href = idLeaf.kind === 'string' ? hrefOf('currency', { chain, id: idLeaf.text }) : undefined;
  if (nameLeaf.kind === 'string') return <Value at={name} as="name" href={href} />;
  return <Value at={id} as="id" href={href} why={why} />;
}
