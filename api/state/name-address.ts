/** i-addresses of names, cached for recent names: computing one takes a dozen hashes. */
import { nameToAddress } from '../../domain/names.ts';
import { memoize } from './memoize.ts';

const KEPT_NAMES = 10_000;

const byRoot = new Map<string, (name: string) => string | null>();

/** Like nameToAddress of domain/; returns null for a text that cannot be a name. */
export function nameAddress(name: string, networkRoot: string): string | null {
  let addressOf = byRoot.get(networkRoot);
  if (!addressOf) {
    addressOf = memoize((asked) => nameToAddress(asked, networkRoot), KEPT_NAMES);
    byRoot.set(networkRoot, addressOf);
  }
  return addressOf(name);
}
