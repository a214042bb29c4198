/** `keys`: shows or sets the tier of an identity, and shows its keys. */

import { listKeys, setTier, TIERS, tierOf } from '../api/access/key-store.ts';
import { isIdentityAddress } from '../domain/addresses.ts';
import { nameToAddress } from '../domain/names.ts';
import type { Tier } from '../schemas/config.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { StoreContext } from './control-commands.ts';

export async function printKeys(
  { config, stores }: StoreContext,
  args: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  const [chainName = '', identity = '', tier] = args;
  const chain = config.chains.find(({ name }) => name === chainName);
  const address = chain && (isIdentityAddress(identity) ? identity : nameToAddress(identity, chain.networkRoot));
  if (!chain || !address || args.length > 3 || (tier !== undefined && !isTier(tier))) {
    const chains = config.chains.map(({ name }) => name).join(', ');
    throw new PermanentError(
      'usage',
      `keys takes a chain (${chains}), an identity (name@ or i-address), and to set its tier one of ${TIERS.join(', ')}.`,
    );
  }
  const holder = { chain: chainName, identityAddress: address };
  if (tier !== undefined) await setTier(stores.postgres, holder, tier);
  print(`${address} of ${chainName}: tier ${await tierOf(stores.postgres, holder)}`);
  const keys = await listKeys(stores.postgres, holder);
  for (const { id, name, created_at } of keys) print(`  key ${id}  since ${created_at.toISOString()}  ${name}`);
  if (keys.length === 0) print('  no keys');
  return 0;
}

function isTier(text: string): text is Tier {
  return (TIERS as readonly string[]).includes(text);
}
