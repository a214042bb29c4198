/** Opens the mempools of all chains in a process that serves. */
import type { Pool } from 'pg';
import type { Logger } from '../infra/logger.ts';
import type { DaemonNotifications } from '../infra/verusd/daemon-notifications.ts';
import type { VerusdClient } from '../infra/verusd/verusd-client.ts';
import { openMempool } from '../pipeline/mempool/follow-mempool.ts';
import type { Config } from '../schemas/config.ts';
import type { MempoolSource } from '../schemas/mempool.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';

/** Each serving process asks the daemons itself, since mempools are not stored: every second and at each notification of a publisher. */
export function openMempools(
  { chains }: Config,
  daemons: ReadonlyMap<string, VerusdClient>,
  notifications: ReadonlyMap<string, DaemonNotifications>,
  pool: Pool,
  logger: Logger,
): Map<string, MempoolSource> {
  return new Map(
    chains.flatMap(({ name, ...chain }) => {
      const daemon = daemons.get(name);
      const context = { name, networkRoot: chain.networkRoot, nativeCurrencyId: nativeCurrencyId({ name, ...chain }) };
      if (!daemon) return [];
      const mempool = openMempool({ chain: context, daemon, pool, logger });
      notifications.get(name)?.subscribe(() => mempool.wake());
      return [[name, mempool] as const];
    }),
  );
}
