/**
 * The writer of one partition on Kafka. Transactions with one transactional id make appends atomic and fence older writers; the writer of
 * the newest message owns the partition. After a broken connection the outcome is unknown: a new session with the same id settles it, and
 * the log then shows what was committed. The new session also fences a newer owner, which does the same and finds that it is still the owner.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentError, type VerustreamError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';
import type { LogRecord, LogWriter } from '../event-log.ts';
import { LogClosed, LogConflict, LogGap, LogUnreachable, LogWriterFenced } from '../log-errors.ts';
import { checkAppend, checkHeld } from '../partition.ts';
import type { KafkaClient } from './kafka-client.ts';
import { protocolErrorType, toLogError } from './kafka-errors.ts';
import type { PartitionFetcher } from './partition-fetcher.ts';
import type { PartitionReader } from './partition-reader.ts';
import { openedMessage, recordMessage } from './record-message.ts';
import { MAX_MESSAGE_BYTES } from './topic-setup.ts';
import { openTransactionSession, type TransactionSession } from './transaction-session.ts';

export interface KafkaWriterOptions {
  readonly client: KafkaClient;
  readonly logger: Logger;
  /** Name of the Kafka topic and of the transactional id. */
  readonly topic: string;
  /** Name of the partition in messages. */
  readonly partition: string;
  readonly reader: PartitionReader;
  readonly fetcher: PartitionFetcher;
  readonly onAppended: (next: number) => void;
  readonly onClosed: (writer: LogWriter) => void;
}

const ATTEMPTS = 3;
const VISIBLE_WITHIN_MS = 10_000;
const VISIBLE_POLL_MS = 2;

/** @throws LogUnreachable */
export async function openKafkaWriter(options: KafkaWriterOptions): Promise<LogWriter> {
  const { client, partition, reader, topic, onAppended, onClosed } = options;
  const id = randomUUID();
  let session: TransactionSession | null = null;
  let next = 0;
  let ended: VerustreamError | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  /** Opens a new session, which settles all earlier transactions; reads `next` and the owner from the log. */
  async function startSession(): Promise<{ session: TransactionSession; owner: string | null }> {
    const started = await openTransactionSession(client, topic);
    try {
      const tail = await reader.tail();
      if (tail === null)
        throw new LogUnreachable(`Kafka (${client.brokers.join(', ')}) does not know topic ${topic} yet`);
      next = tail.last ? tail.last.position + 1 : 0;
      return { session: started, owner: tail.writer };
    } catch (error) {
      await started.close().catch(() => {});
      throw error;
    }
  }

  async function takeOver(): Promise<TransactionSession> {
    const { session: started } = await startSession();
    session = started;
    await becomeVisible(options, await started.commit([openedMessage(id)]));
    return started;
  }

  async function resume(): Promise<TransactionSession> {
    const { session: started, owner } = await startSession();
    session = started;
    if (owner === id) return started;
    throw new LogWriterFenced(
      `this process or another one opened a newer writer of ${partition}: this writer has ended`,
    );
  }

  async function dropSession(): Promise<void> {
    const old = session;
    session = null;
    // The session is no longer used, so errors of closing it do not matter.
    await old?.close().catch(() => {});
  }

  /** Retries after temporary failures; `use` recognizes records that are already committed. */
  async function withSession(
    start: () => Promise<TransactionSession>,
    use: (started: TransactionSession) => Promise<void>,
  ) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await use(session ?? (await start()));
      } catch (error) {
        const refused = refusal(error, topic);
        if (refused instanceof LogWriterFenced) ended = refused;
        if (!(refused instanceof LogGap || refused instanceof LogConflict)) await dropSession();
        if (refused) throw refused;
        if (attempt === ATTEMPTS) throw toLogError(error, client.brokers, `append to ${topic}`);
      }
    }
  }

  async function append(records: readonly LogRecord[], started: TransactionSession): Promise<void> {
    checkAppend(partition, records, next);
    await checkAllHeld(
      options,
      records.filter((record) => record.position < next),
    );
    const fresh = records.filter((record) => record.position >= next);
    if (fresh.length === 0) return;
    const last = await started.commit(fresh.map((record) => recordMessage(record, id)));
    next += fresh.length;
    await becomeVisible(options, last);
    onAppended(next);
  }

  await withSession(takeOver, async () => {});
  const writer: LogWriter = {
    get next() {
      return next;
    },
    packing: 'each',
    append(records) {
      const appended = queue.then(async () => {
        if (ended) throw ended;
        await withSession(resume, (started) => append(records, started));
      });
      queue = appended.catch(() => {});
      return appended;
    },
    async close() {
      ended ??= new LogClosed(`the writer of ${partition}`);
      await queue;
      await dropSession();
      onClosed(writer);
    },
  };
  return writer;
}

/** Returns an error that retrying cannot resolve; null for any other error. */
function refusal(error: unknown, topic: string): PermanentError | null {
  if (error instanceof PermanentError) return error;
  if (protocolErrorType(error) !== 'MESSAGE_TOO_LARGE') return null;
  const advice = `Set max.message.bytes of topic ${topic} to ${MAX_MESSAGE_BYTES}.`;
  return new PermanentError('log_topic_settings', `Kafka refused a record because it is too large. ${advice}`, {
    cause: error,
  });
}

async function checkAllHeld({ partition, reader }: KafkaWriterOptions, records: readonly LogRecord[]): Promise<void> {
  for (const record of records) {
    const [held] = await reader.read(record.position, { maxRecords: 1, maxBytes: record.payload.byteLength });
    checkHeld(partition, record, held);
  }
}

/** Waits until readers see the commit, so that a read finds what was appended: the broker acknowledges a commit before it is readable. */
async function becomeVisible({ fetcher, logger, topic }: KafkaWriterOptions, offset: number): Promise<void> {
  for (
    const deadline = performance.now() + VISIBLE_WITHIN_MS;
    performance.now() < deadline;
    await sleep(VISIBLE_POLL_MS)
  ) {
    const end = await fetcher.end();
    if (end !== null && end > offset) return;
  }
  logger.warn({ topic, offset }, 'a committed record is not readable yet: a broker or a replica is slow');
}
