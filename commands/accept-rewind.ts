/** `accept-rewind`: lets one chain be taken back below finality, to exactly one block. */
import { isHash } from '../domain/hashes.ts';
import { ACCEPTED_MINUTES, acceptRewind } from '../pipeline/tailer/accepted-rewinds.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { StoreContext } from './control-commands.ts';

const HEIGHT = /^\d{1,9}$/;

export async function printAcceptRewind(
  { config, stores }: StoreContext,
  args: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  const [chain = '', height = '', hash = ''] = args;
  const chains = config.chains.map(({ name }) => name);
  if (!chains.includes(chain) || !HEIGHT.test(height) || !isHash(hash) || args.length !== 3) {
    throw new PermanentError(
      'usage',
      `accept-rewind takes a chain (${chains.join(', ')}), the height and the hash of the newest block that stays, as the stopped tailer names them.`,
    );
  }
  await acceptRewind(stores.postgres, chain, { height: Number(height), hash });
  print(`${chain} may be rewound to block ${height} once, within the next ${ACCEPTED_MINUTES} minutes.`);
  return 0;
}
