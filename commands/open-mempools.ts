/** The mempools of all chains, for a process that serves. */
import type { Pool } from 'pg';
import type { Logger } from '../infra/logger.ts';
import type { VerusdClient } from '../infra/verusd/verusd-client.ts';
import { openMempool } from '../pipeline/mempool/follow-mempool.ts';
import type { Config } from '../schemas/config.ts';
import type { MempoolSource } from '../schemas/mempool.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';

/** Each process that serves asks the daemon by itself, since nothing of a mempool is stored. */
export function openMempools(
  { chains }: Config,
  daemons: ReadonlyMap<string, VerusdClient>,
  pool: Pool,
  logger: Logger,
): Map<string, MempoolSource> {
  return new Map(
    chains.flatMap(({ name, ...chain }) => {
      const daemon = daemons.get(name);
      const context = { name, networkRoot: chain.networkRoot, nativeCurrencyId: nativeCurrencyId({ name, ...chain }) };
      return daemon ? [[name, openMempool({ chain: context, daemon, pool, logger })] as const] : [];
    }),
  );
}
