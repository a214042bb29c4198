/** Opens what a command works on: the data folder (locked while in use), both stores and the log. */
import { join } from 'node:path';
import { controlSocketPath } from '../infra/control-socket/control-socket.ts';
import { claimDataFolder, type DataFolder } from '../infra/data-folder/data-folder.ts';
import { createEmbeddedEventLog } from '../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../infra/event-log/event-log.ts';
import { createTopicReader, type TopicReader } from '../infra/event-log/topic-reader.ts';
import type { Logger } from '../infra/logger.ts';
import { openTogether } from '../infra/open-together.ts';
import { checkMigrated } from '../infra/postgres/migrate.ts';
import { connectPostgres, type Postgres } from '../infra/postgres/postgres.ts';
import { openStores, type Stores } from '../infra/stores.ts';
import { type Config, usesDataFolder } from '../schemas/config.ts';

export interface Resources {
  readonly stores: Stores;
  readonly log: EventLog;
  /** Shared by all followers of facts or stamps in this process. */
  readonly topics: TopicReader;
  close(): Promise<void>;
}

/** Closes everything on failure. @throws DataFolderBusy, DataFolderUnusable, and errors of the stores and the log */
export async function openResources(config: Config, logger: Logger): Promise<Resources> {
  if (usesDataFolder(config)) controlSocketPath(config.dataDir); // throws for a path that is too long before anything is created
  const folder: DataFolder | null = usesDataFolder(config) ? claimDataFolder(config.dataDir) : null;
  if (folder?.isOpen) {
    logger.warn(
      { folder: folder.path },
      'other users may enter the data folder, which does not belong to the user of this process: its owner should set mode 0700',
    );
  }
  return openTogether(logger, async (closers) => {
    closers.push(() => folder?.release());
    const stores = await openStores(config, logger);
    closers.push(() => stores.close());
    const log = await openLog(config, logger);
    closers.push(() => log.close());
    // One read, so that wrong brokers are noticed at start. Not for an embedded log: a damaged file must stop only its own chain.
    if (config.kafkaBrokers) await log.last('blocks', config.chains[0]?.name ?? '');
    return { stores, log, topics: createTopicReader(log) };
  });
}

/** An operator's command takes moments; if it waits for a server or a lock instead, it fails with an error. */
const ALONE = { maxConnections: 2, isWaitedFor: false, statementMs: 20_000 } as const;

/**
 * Connects to Postgres by its URL without migrating it and without waiting for a server that is starting or full.
 * @throws PostgresRefused, PostgresTrouble, StoresOlder, StoresMigrating, StoresNewer
 */
export async function openPostgresAlone({ databaseUrl }: Config, logger: Logger): Promise<Postgres> {
  if (databaseUrl === null) throw new TypeError('Postgres has no URL');
  return openTogether(logger, async (closers) => {
    const postgres = await connectPostgres({ url: databaseUrl, logger, ...ALONE });
    closers.push(() => postgres.close());
    await checkMigrated(postgres);
    return postgres;
  });
}

async function openLog(config: Config, logger: Logger): Promise<EventLog> {
  if (!config.kafkaBrokers) return createEmbeddedEventLog({ folder: join(config.dataDir, 'log') });
  // Loaded only if a broker is configured: Kafka's client is a tenth of all modules.
  const { createKafkaEventLog } = await import('../infra/event-log/kafka/kafka-event-log.ts');
  return createKafkaEventLog({ brokers: config.kafkaBrokers, logger });
}
