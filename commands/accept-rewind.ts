/** `accept-rewind`: allows one rewind of a chain below finality, to exactly one block. */
import { isHash } from '../domain/hashes.ts';
import { ACCEPTED_MINUTES, acceptRewind } from '../pipeline/tailer/accepted-rewinds.ts';
import { UsageError } from '../schemas/errors.ts';
import { configuredChain, wholeNumber } from './arguments.ts';
import type { CommandOutcome, Output, PostgresContext } from './command.ts';
import type { InputOf } from './command-table.ts';

/** @throws UsageError */
export async function run(
  { config, stores }: Pick<PostgresContext, 'config' | 'stores'>,
  input: InputOf<'accept-rewind'>,
  { line }: Output,
): Promise<CommandOutcome> {
  const { name: chain } = configuredChain(config, input.chain);
  const height = wholeNumber(input.height, 'height');
  const { hash } = input;
  if (!isHash(hash)) throw new UsageError(`"${hash}" is not a block hash; a hash has 64 digits of 0-9 and a-f`);
  await acceptRewind(stores.postgres, chain, { height, hash });
  line(`${chain} may be rewound to block ${height} once, within the next ${ACCEPTED_MINUTES} minutes.`);
  return { exitCode: 0, state: { chain, height, hash, minutes: ACCEPTED_MINUTES } };
}
