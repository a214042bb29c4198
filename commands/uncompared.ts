/** A check that has compared nothing of a chain has not succeeded. */
import type { Output } from './command.ts';

/** Prints the chains of which nothing was compared, and returns true if there is none. */
export function allCompared(
  chains: readonly { readonly name: string }[],
  isCompared: (chain: string) => boolean,
  line: Output['line'],
): boolean {
  const uncompared = chains.filter(({ name }) => !isCompared(name));
  for (const { name } of uncompared) line(`${name}: nothing is derived yet, so nothing was compared.`);
  return uncompared.length === 0;
}
