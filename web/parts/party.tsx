/** Addresses and currencies as links to their views. */
import { hrefOf } from '../addresses.ts';
import { nameOf } from '../state/names.ts';
import { ADDRESS } from '../text/address.ts';
import { useLeaf, usePointer } from './scope.tsx';
import { Text } from './text.tsx';
import { Value } from './value.tsx';

interface PartyProps {
  readonly at: string;
  readonly chain: string;
  readonly why?: string;
}

/** An address, with the name of its identity next to it. */
export function Party(props: PartyProps) {
  const leaf = useLeaf(usePointer(props.at));
  const isIdentity = leaf.kind === 'string' && leaf.text.startsWith('i') && ADDRESS.test(leaf.text);
  return (
    <>
      <AddressLink {...props} />
      {isIdentity && <NameOf id={leaf.text} href={hrefOf('identity', { chain: props.chain, name: leaf.text })} />}
    </>
  );
}

/** For places that already show the name. Addresses of other systems are shown without a link. */
export function AddressLink({ at, chain, why }: PartyProps) {
  const leaf = useLeaf(usePointer(at));
  const isAddress = leaf.kind === 'string' && ADDRESS.test(leaf.text);
  return (
    <Value at={at} as="id" why={why} href={isAddress ? hrefOf('address', { chain, addr: leaf.text }) : undefined} />
  );
}

/** The current name of an identity as the service knows it; not part of the answer. */
export function NameOf({ id, href }: { readonly id: string; readonly href?: string }) {
  const name = nameOf(id).value;
  const shown = name !== null && <Text text={`${name}@`} isName />;
  return (
    <span class="name-of muted" data-derived="name-of">
      {href && shown ? <a href={href}>{shown}</a> : shown}
    </span>
  );
}

interface CurrencyProps {
  readonly chain: string;
  /** Pointer to the name, which may be null. */
  readonly name: string;
  readonly id: string;
  readonly why?: string;
}

/** Shows the name of a currency, or its id where it has no name. */
export function Currency({ chain, name, id, why }: CurrencyProps) {
  const [nameLeaf, idLeaf] = [useLeaf(usePointer(name)), useLeaf(usePointer(id))];
  const href = idLeaf.kind === 'string' ? hrefOf('currency', { chain, id: idLeaf.text }) : undefined;
  if (nameLeaf.kind === 'string') return <Value at={name} as="name" href={href} />;
  return <Value at={id} as="id" href={href} why={why} />;
}
