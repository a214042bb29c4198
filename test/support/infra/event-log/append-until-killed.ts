/**
 * A process that appends test records until it is killed and prints the next position after each acknowledged append.
 * Argument: JSON of AppenderOptions.
 */
import { writeSync } from 'node:fs';
import type { EventLog } from '../../../../infra/event-log/event-log.ts';
import { testRecords } from './test-records.ts';

export type AppenderOptions =
  | { readonly folder: string }
  | { readonly brokers: readonly string[]; readonly topicPrefix: string };

const MAX_BATCH = 40;
const STDOUT = 1;

const options: AppenderOptions = JSON.parse(process.argv[2] ?? '');
const writer = await (await openLog()).openWriter('blocks', 'vrsc');
for (let batch = 1; ; batch = (batch * 7) % MAX_BATCH || 1) {
  await writer.append(testRecords(writer.next, batch));
  writeSync(STDOUT, `${writer.next}\n`);
}

/** Imports only the implementation in use, because this process is started often. */
async function openLog(): Promise<EventLog> {
  if ('folder' in options)
    return (await import('../../../../infra/event-log/embedded/embedded-event-log.ts')).createEmbeddedEventLog(options);
  const { createLogger } = await import('../../../../infra/logger.ts');
  const { createKafkaEventLog } = await import('../../../../infra/event-log/kafka/kafka-event-log.ts');
  return createKafkaEventLog({ ...options, logger: createLogger('silent') });
}
