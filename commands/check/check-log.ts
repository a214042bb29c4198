/** Checks the log: topics and settings of the Kafka brokers. An embedded log is part of the data folder. */
import type { Logger } from '../../infra/logger.ts';
import type { Config } from '../../schemas/config.ts';
import { TOPICS } from '../../schemas/log-records.ts';
import { type Finding, findingsOf, within } from './finding.ts';

const ANSWER_SECONDS = 30;

export async function checkLog(config: Config, logger: Logger): Promise<readonly Finding[]> {
  const { kafkaBrokers, chains } = config;
  const subject = 'log';
  const { right, wrong, failed } = findingsOf(subject);
  if (!kafkaBrokers) return [right('embedded, in the data folder')];
  try {
    const { inspectBroker } = await import('../../infra/event-log/kafka/inspect-broker.ts');
    const partitions = chains.flatMap(({ name }) => TOPICS.map((topic) => ({ topic, chain: name })));
    const report = await within(ANSWER_SECONDS, inspectBroker({ brokers: kafkaBrokers, logger }, partitions));
    const { brokers, topics, missing, problems } = report;
    return [
      right(`Kafka (${kafkaBrokers.join(', ')}) answers, ${brokers} broker(s)`),
      ...(problems.length > 0
        ? problems.map((problem) => wrong(problem, 'change the setting; otherwise the service stops at start'))
        : [
            right(
              `${topics} topics keep what they must (blocks: everything) and accept the largest records; ${missing.length} are created at start`,
            ),
          ]),
    ];
  } catch (error) {
    return [failed(error, 'start Kafka, and let KAFKA_BROKERS and its access rules admit this machine')];
  }
}
