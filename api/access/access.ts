/** Access control of this process: limits, with their clock and their ledger in Postgres. */
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import type { Config } from '../../schemas/config.ts';
import { createGate, type Gate } from './gate.ts';
import { startLedgerClock } from './ledger-clock.ts';
import { createLimiter } from './limiter.ts';
import { createPostgresLedger, forgetEnded } from './postgres-ledger.ts';
import { createReadVisitor, type ReadVisitor } from './visitor.ts';

export interface Access {
  readonly gate: Gate;
  readonly readVisitor: ReadVisitor;
  /** Gives back what was taken ahead of the limits. */
  close(): Promise<void>;
}

export interface AccessOptions {
  readonly config: Pick<Config, 'tiers' | 'keylessRequestsPerMinute' | 'trustedProxies'>;
  readonly postgres: Postgres;
  readonly logger: Logger;
}

export async function openAccess({ config, postgres, logger }: AccessOptions): Promise<Access> {
  const process = randomBytes(9).toString('base64url');
  const clock = await startLedgerClock({ postgres, process, logger });
  const { now, members } = clock;
  const limiter = createLimiter({ ledger: createPostgresLedger(postgres), process, now, members });
  clock.onBeat(async () => {
    limiter.forgetIdle();
    await forgetEnded(postgres, now());
  });
  return {
    gate: createGate(limiter, config),
    readVisitor: createReadVisitor(config.trustedProxies),
    async close() {
      await limiter
        .close()
        .catch((err: unknown) => logger.warn({ err }, 'parts of the limits could not be given back'));
      await clock.stop().catch((err: unknown) => logger.warn({ err }, 'the clock of the limits could not be stopped'));
    },
  };
}
