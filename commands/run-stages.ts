/** Runs every stage of every chain for which this process has the role, each under its own supervision. */
import type { EventLog } from '../infra/event-log/event-log.ts';
import type { TopicReader } from '../infra/event-log/topic-reader.ts';
import type { Logger } from '../infra/logger.ts';
import type { Stores } from '../infra/stores.ts';
import type { DaemonNotifications } from '../infra/verusd/daemon-notifications.ts';
import type { VerusdClient } from '../infra/verusd/verusd-client.ts';
import { runAudit } from '../pipeline/audit/run-audit.ts';
import { runDerive } from '../pipeline/derive/run-derive.ts';
import { runPrice } from '../pipeline/price/run-price.ts';
import { runPriceGuard } from '../pipeline/price-guard/run-price-guard.ts';
import { forgetStage } from '../pipeline/stage/forget-metrics.ts';
import type { StageReporter } from '../pipeline/stage/stage-reporter.ts';
import { type StageRun, supervise } from '../pipeline/stage/supervise.ts';
import { watchAcceptedRewinds } from '../pipeline/tailer/accepted-rewinds.ts';
import { runTailer } from '../pipeline/tailer/run-tailer.ts';
import type { ChainConfig, Config, Role } from '../schemas/config.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { ReportingStage } from '../schemas/stages.ts';
import { pricedChains } from './priced-chains.ts';

export interface StagesOptions {
  readonly config: Config;
  readonly stores: Stores;
  readonly log: EventLog;
  readonly topics: TopicReader;
  readonly daemons: ReadonlyMap<string, VerusdClient>;
  /** By chain, for chains whose daemons publish. */
  readonly notifications?: ReadonlyMap<string, DaemonNotifications>;
  readonly reporter: StageReporter;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Demo only: whether the recording of a chain has ended. */
  readonly ended?: (chain: string) => boolean;
}

/** Resolves when every stage has ended, at most some seconds after the signal. */
export async function runStages(options: StagesOptions): Promise<void> {
  const { config, stores, log, topics, reporter, logger, signal, ended } = options;
  const start = (stage: ReportingStage & Role, chains: readonly ChainConfig[], run: StageRun) =>
    config.roles.includes(stage)
      ? supervise({ stage, chains: chains.map(({ name }) => name), run, reporter, logger, signal })
      : Promise.resolve();

  const accepted = watchAcceptedRewinds(stores.postgres, logger);
  const eachChain = config.chains.map(async (chain) => {
    const client = options.daemons.get(chain.name);
    if (!client) throw new Error(`no daemon client for ${chain.name}`);
    const notifications = options.notifications?.get(chain.name);
    const id = nativeCurrencyId(chain);
    await Promise.all([
      start('tail', [chain], (report, owned) =>
        runTailer({
          chain,
          client,
          log,
          logger,
          signal,
          ...(ended && { ended: () => ended(chain.name) }),
          ...(notifications && { notifications }),
          acceptRewind: () => accepted.of(chain.name),
          takeRewind: (rewind) => accepted.take(chain.name, rewind),
          owned,
          status: (status) => report(chain.name, status),
        }),
      ),
      start('derive', [chain], (report, owned) =>
        runDerive({
          chain,
          nativeCurrencyId: id,
          log,
          // Lets price take records from memory: it reads each record that derive publishes.
          ...(config.roles.includes('price') && { topics }),
          stores,
          logger,
          signal,
          taken: () => forgetStage('derive', [chain]),
          owned,
          status: (status) => report(chain.name, status),
        }),
      ),
    ]);
  });
  const chains = pricedChains(config);
  const price = start('price', config.chains, (status, owned) =>
    runPrice({ chains, config, log, topics, stores, logger, status, owned, signal }),
  );
  const watches = config.roles.includes('price')
    ? [runAudit({ stores, chains, logger, signal }), runPriceGuard({ chains, config, stores, logger, signal })]
    : [];
  await Promise.all([...eachChain, price, ...watches]);
  accepted.close();
}
