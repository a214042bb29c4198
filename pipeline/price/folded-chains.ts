/** Checks that every chain with ticks is configured. */
import type { PoolClient } from 'pg';
import { readStagePositions } from '../../infra/postgres/stage-positions.ts';
import { PermanentError } from '../../schemas/errors.ts';

/** Prices were folded from a chain that is no longer configured, so a fold of the other chains cannot give the same prices. */
class PriceChainMissing extends PermanentError {
  constructor(missing: readonly string[], configured: string) {
    super(
      'price_chain_missing',
      `Prices were folded from blocks of ${missing.join(', ')}, which the configuration lacks. Configure it again; or, to fold all prices without it, ` +
        `start the service and run \`verustream dead-letters redrive ${configured} 0\`.`,
    );
  }
}

/** @throws PriceChainMissing */
export async function checkFoldedChains(
  client: Pick<PoolClient, 'query'>,
  chains: readonly { readonly name: string }[],
): Promise<void> {
  const configured = chains.map(({ name }) => name);
  const folded = [...(await readStagePositions(client, 'price')).keys()];
  const missing = folded.filter((name) => !configured.includes(name)).toSorted();
  if (missing.length > 0) throw new PriceChainMissing(missing, configured[0] ?? '');
}
