/** `keys`: shows or sets the tier of an identity, and shows its keys. */
import { listKeys, setTier, tierOf } from '../api/access/key-store.ts';
import { isIdentityAddress } from '../domain/addresses.ts';
import { nameToAddress } from '../domain/names.ts';
import { UsageError } from '../schemas/errors.ts';
import { configuredChain } from './arguments.ts';
import type { CommandOutcome, Output, PostgresContext } from './command.ts';
import type { InputOf } from './command-table.ts';

const KNOWN_SQL = 'SELECT 1 FROM identities WHERE chain = $1 AND identity_address = $2 AND to_height IS NULL';

/** Owners choose the names of their keys: control characters in them would control the operator's terminal. */
const inert = (name: string) =>
  name.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);

/** @throws UsageError for a chain that is not configured and an identity that the chain does not know */
export async function run(
  { config, stores }: Pick<PostgresContext, 'config' | 'stores'>,
  { chain: name, identity, tier }: InputOf<'keys'>,
  { line }: Output,
): Promise<CommandOutcome> {
  const chain = configuredChain(config, name);
  const identityAddress = isIdentityAddress(identity) ? identity : nameToAddress(identity, chain.networkRoot);
  const known = identityAddress && (await stores.postgres.pool.query(KNOWN_SQL, [name, identityAddress])).rowCount;
  if (!identityAddress || !known) {
    throw new UsageError(
      `the chain ${name} knows no identity "${identity}"; allowed is the name@ or i-address of an identity that the chain has derived`,
    );
  }
  const holder = { chain: name, identityAddress };
  if (tier !== undefined) await setTier(stores.postgres, holder, tier);
  const current = await tierOf(stores.postgres, holder);
  const keys = await listKeys(stores.postgres, holder);
  line(`${identityAddress} of ${name}: tier ${current}`);
  for (const key of keys) line(`  key ${key.id}  since ${key.created_at.toISOString()}  ${inert(key.name)}`);
  if (keys.length === 0) line('  no keys');
  const shown = keys.map((key) => ({
    id: key.id,
    name: key.name,
    createdAt: key.created_at.toISOString(),
    regeneratedAt: key.regenerated_at?.toISOString() ?? null,
  }));
  return { exitCode: 0, state: { chain: name, identityAddress, tier: current, keys: shown } };
}
