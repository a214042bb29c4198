/** Runs all roles of this process until a signal ends it. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { serveControl } from '../infra/control-socket/control-socket.ts';
import { watchDiskSpace } from '../infra/data-folder/disk-space.ts';
import type { Logger } from '../infra/logger.ts';
import { startMetricsServer } from '../infra/metrics-server.ts';
import { type Closers, openTogether } from '../infra/open-together.ts';
import { type Postgres, retryWhileRecovering } from '../infra/postgres/postgres.ts';
import { removeLeftScratchFolders } from '../infra/scratch-folder.ts';
import { createDaemonGroup } from '../infra/verusd/daemon-group.ts';
import type { DaemonNotifications } from '../infra/verusd/daemon-notifications.ts';
import type { VerusdClient } from '../infra/verusd/verusd-client.ts';
import { storeWallet } from '../infra/verusd/wallet-rows.ts';
import { type WatchedWallet, watchWallets } from '../infra/verusd/wallet-watch.ts';
import { openZmqNotifications } from '../infra/verusd/zmq-notifications.ts';
import { createStageReporter, type StageReporter } from '../pipeline/stage/stage-reporter.ts';
import { type ChainConfig, type Config, datasetsFolder, usesDataFolder } from '../schemas/config.ts';
import type { DaemonStatus } from '../schemas/daemon-status.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import { announce } from './announce.ts';
import type { CommandContext, CommandOutcome, Output } from './command.ts';
import { startDemo } from './demo.ts';
import { openMempools } from './open-mempools.ts';
import { openResources } from './open-resources.ts';
import { release } from './release.ts';
import { runStages } from './run-stages.ts';
import { answerControl } from './store-commands.ts';

/** Leaves time for the exit itself, in which the ClickHouse engine ends. */
const LONGEST_DRAIN_MS = 7000;
const ENDED: CommandOutcome = { exitCode: 0, state: null };

export async function run(context: CommandContext, _input: object, { line }: Output): Promise<CommandOutcome> {
  const { logger, signal } = context;
  await setImmediate(); // reports a signal that has arrived while modules were loaded
  if (signal.aborted) return ENDED; // a listener added now would not be called
  signal.addEventListener('abort', () => endInTime(logger), { once: true });
  const service = await openTogether(logger, (closers) => openService(context, line, closers));
  try {
    await service.work();
    return ENDED;
  } finally {
    await service.close();
  }
}

interface Service {
  /** Resolves when the signal aborts. */
  work(): Promise<void>;
}

const NO_SERVICE: Service = { work: () => Promise.resolve() };

async function openService(
  { config: given, logger, signal }: CommandContext,
  line: Output['line'],
  closers: Closers,
): Promise<Service> {
  const { stores, log, topics, close } = await openResources(given, logger);
  closers.push(close);
  void removeLeftScratchFolders();
  if (signal.aborted) return NO_SERVICE;
  const disk = watchDiskSpace(given.dataDir, logger);
  closers.push(() => disk.stop());
  const demo = given.demo ? await startDemo(given, log, logger) : null;
  if (demo) closers.push(demo.stop);
  const config = demo?.config ?? given;
  const reporter = createStageReporter(stores.postgres, logger);
  closers.push(() => reporter.close());
  const notifications = await openNotifications(config, logger);
  closers.push(() => closeAll(notifications));
  const daemons = openDaemons(config, notifications, reporter, logger);
  closers.push(() => closeAll(daemons));

  if (signal.aborted) return NO_SERVICE;
  if (config.roles.includes('serve')) {
    const { startApi } = await import('../api/server.ts'); // half of all modules
    const { pageSource: page } = await import('../web/build/page-source.ts');
    const wallets = watchChains(demo ? [] : config.chains, stores.postgres, logger);
    closers.push(() => closeAll(wallets));
    const mempools = openMempools(config, daemons, notifications, stores.postgres.pool, logger);
    const options = { config, release, stores, topics, daemons, wallets, mempools, page, logger, signal };
    const api = await retryWhileRecovering(() => startApi(options), logger);
    closers.push(() => api.close());
    announce({ ...config, port: api.port }, line);
  }
  if (given.metricsPort !== null) {
    const metrics = await startMetricsServer(given.host, given.metricsPort);
    closers.push(() => metrics.close());
    logger.info({ port: metrics.port }, 'metrics are served');
  }
  if (usesDataFolder(config)) {
    const answer = answerControl({ config, stores, log, logger });
    const control = await serveControl(config.dataDir, async (...asked) => {
      await reporter.flush(); // so that the command sees this process' latest status
      return answer(...asked);
    });
    closers.push(() => control.close());
  }
  if (config.roles.includes('serve') && config.datasets.refreshSeconds > 0) {
    const { keepDatasets } = await import('../pipeline/datasets/keep-datasets.ts');
    const { refreshSeconds } = config.datasets;
    const { chains } = config;
    const kept = keepDatasets({ stores, chains, folder: datasetsFolder(config), refreshSeconds, logger, signal });
    closers.push(() => kept);
  }
  return {
    async work() {
      const playing = demo?.play(signal).catch((err: unknown) => {
        logger.error({ err }, 'the demo has stopped');
      });
      const stages = { config, stores, log, topics, daemons, notifications, reporter, logger, signal };
      await runStages({ ...stages, ...(demo && { ended: demo.ended }) });
      await playing;
      if (!signal.aborted) await once(signal, 'abort'); // the service keeps answering after its stages have stopped for good
    },
  };
}

async function closeAll(opened: ReadonlyMap<string, { close(): Promise<void> }>): Promise<void> {
  await Promise.all([...opened.values()].map((each) => each.close()));
}

/** The demo passes no chains: its daemon only has a recorded wallet. */
function watchChains(
  chains: readonly ChainConfig[],
  postgres: Postgres,
  logger: Logger,
): Map<string, ReturnType<typeof watchWallets>> {
  return new Map(
    chains.map(({ name: chain, rpc }) => {
      const report = (wallet: WatchedWallet) => storeWallet(postgres, chain, wallet);
      return [chain, watchWallets({ chain, rpc, logger, report })];
    }),
  );
}

type Notifications = ReadonlyMap<string, DaemonNotifications>;

/** The process that tails a chain also watches its daemons and publishes their status to all processes. */
function openDaemons(
  { chains, roles }: Config,
  notifications: Notifications,
  reporter: StageReporter,
  logger: Logger,
): Map<string, VerusdClient> {
  const open = (chain: ChainConfig): VerusdClient => {
    const { name, rpc } = chain;
    const report = (statuses: readonly DaemonStatus[]) => {
      const publishers = notifications.get(name)?.publishers() ?? [];
      const withPublisher = (status: DaemonStatus, index: number) => {
        const publisher = publishers[index];
        return publisher ? { ...status, publisher } : status;
      };
      reporter.daemons(name, statuses.map(withPublisher));
    };
    const group = { rpc, chain: name, chainId: nativeCurrencyId(chain), logger };
    return createDaemonGroup({ ...group, ...(roles.includes('tail') && { report }) });
  };
  return new Map(chains.map((chain) => [chain.name, open(chain)]));
}

/** Subscribes to daemons that publish, for tailers and mempools. One log line lists the chains that are polled instead, with the reason. */
async function openNotifications({ chains, roles }: Config, logger: Logger): Promise<Notifications> {
  const opened = new Map<string, DaemonNotifications>();
  const isTailer = roles.includes('tail');
  if (!isTailer && !roles.includes('serve')) return opened;
  const polled: string[] = [];
  let why = 'no zmq is configured';
  for (const { name: chain, zmq, blockSeconds } of chains) {
    if (zmq === undefined) {
      polled.push(chain);
      continue;
    }
    const addresses = typeof zmq === 'string' ? [zmq] : zmq;
    try {
      opened.set(chain, await openZmqNotifications({ chain, addresses, blockSeconds, logger }));
    } catch (err) {
      logger.debug({ err }, 'the binding of ZMQ cannot be loaded');
      polled.push(chain);
      why = `the ZMQ binding has no binary for ${process.platform}-${process.arch} with Node.js ${process.version}`;
    }
  }
  if (isTailer && polled.length > 0)
    logger.info({ chains: polled }, `polls ${polled.join(', ')} for new blocks: ${why}`);
  return opened;
}

/** The process promises to end within ten seconds. Stopping is safe at any moment: the next start takes over unfinished work. */
function endInTime(logger: Logger): void {
  setTimeout(() => {
    logger.warn('ending before all work has drained; the next start continues from the last commit');
    process.exit(0);
  }, LONGEST_DRAIN_MS).unref();
}
