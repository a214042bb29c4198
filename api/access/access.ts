/** Access control of this process: limits with their clock and ledger, keys, usage, login. */
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../infra/logger.ts';
import { listen } from '../../infra/postgres/listen.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import type { Config } from '../../schemas/config.ts';
import { createGate, type Gate } from './gate.ts';
import { createKeyCache } from './key-cache.ts';
import { ACCESS_CHANNEL, activeKeys } from './key-store.ts';
import { startLedgerClock } from './ledger-clock.ts';
import { type AllowanceDemand, type AllowanceStatus, createLimiter } from './limiter.ts';
import { createPostgresLedger, deleteExpired } from './postgres-ledger.ts';
import { startUsage, type Usage } from './usage.ts';
import { createReadVisitor, type ReadVisitor } from './visitor.ts';

export interface Access {
  readonly gate: Gate;
  readonly readVisitor: ReadVisitor;
  readonly usage: Usage;
  /** Returns the current state of the allowances, in the order of the demands; each demand must cost 0. @throws LimitsUnavailable */
  standings(demands: readonly AllowanceDemand[]): Promise<readonly AllowanceStatus[]>;
  /** Returns unused leases and writes pending usage. */
  close(): Promise<void>;
}

export interface AccessOptions {
  readonly config: Pick<Config, 'chains' | 'tiers' | 'keylessRequestsPerMinute' | 'trustedProxies'>;
  readonly postgres: Postgres;
  /** Changes whenever an identity of a chain may have changed. */
  readonly stateTag: () => string;
  readonly logger: Logger;
}

/** Interval between two removals of expired allowances. */
const EXPIRED_MS = 60_000;

export async function openAccess({ config, postgres, stateTag, logger }: AccessOptions): Promise<Access> {
  const process = randomBytes(9).toString('base64url');
  const clock = await startLedgerClock({ postgres, process, logger });
  const { now, members } = clock;
  const ledger = createPostgresLedger(postgres);
  const limiter = createLimiter({ ledger, process, now, members });
  let expiredAt = now();
  clock.onBeat(async () => {
    limiter.forgetIdle();
    if (now() - expiredAt < EXPIRED_MS) return;
    expiredAt = now();
    await deleteExpired(postgres, now());
  });
  const listener = listen(postgres, ACCESS_CHANNEL, () => keys.clear(), logger);
  const chains = config.chains.map(({ name }) => name);
  const keys = createKeyCache({ load: (ids) => activeKeys(postgres, ids, chains), stateTag, listener });
  const usage = startUsage({ postgres, process, logger });
  return {
    gate: createGate({ config, limiter, keys, usage }),
    readVisitor: createReadVisitor(config.trustedProxies),
    usage,
    standings: async (demands) => (await limiter.charge(demands)).standings,
    async close() {
      await usage.stop();
      await listener.stop();
      await limiter
        .close()
        .catch((err: unknown) => logger.warn({ err }, 'unused parts of the limits could not be returned to Postgres'));
      await clock.stop().catch((err: unknown) => logger.warn({ err }, 'the clock of the limiter could not be stopped'));
      await ledger.close();
    },
  };
}
