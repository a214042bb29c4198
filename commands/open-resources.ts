/** Resources of a command: the data folder (locked while in use), both stores and the log. */
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
  /** Everyone in this process who follows facts or stamps reads here. */
  readonly topics: TopicReader;
  close(): Promise<void>;
}

/** @throws DataFolderBusy, DataFolderUnusable, and errors of the stores and the log; then nothing stays open */
export async function openResources(config: Config, logger: Logger): Promise<Resources> {
  if (usesDataFolder(config)) controlSocketPath(config.dataDir); // too long: known before anything is made
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
    // Asked once, so that wrong brokers are known at start. A damaged file stops its own chain only.
    if (config.kafkaBrokers) await log.last('blocks', config.chains[0]?.name ?? '');
    return { stores, log, topics: createTopicReader(log) };
  });
}

/** What a command of an operator does is over in moments, or stands behind a lock: then it says so. */
const ALONE = { maxConnections: 2, isWaitedFor: false, statementMs: 20_000 } as const;

/**
 * Postgres by its URL, as it is: no migration, and no waiting for a server that does not answer.
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
  // Loaded only with a broker configured: Kafka's client is a tenth of all modules.
  const { createKafkaEventLog } = await import('../infra/event-log/kafka/kafka-event-log.ts');
  return createKafkaEventLog({ brokers: config.kafkaBrokers, logger });
}
