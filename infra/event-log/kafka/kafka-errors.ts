/** kafkajs' errors → errors of the log. */
import { messageOf, PermanentError, VerustreamError } from '../../../schemas/errors.ts';
import { LogUnreachable } from '../log-errors.ts';

const FORBIDDEN = /AUTHORIZATION_FAILED|SASL|AUTHENTICATION/;

/** The version of kafkajs that package.json pins and the tests run. */
export const TESTED_KAFKAJS = '2.2.4';

/** What reading needs of kafkajs beyond its types is not there. */
export class KafkaClientChanged extends PermanentError {
  constructor(version: string, difference: string) {
    const advice = `This program needs kafkajs ${TESTED_KAFKAJS}: install the version that package.json names (npm ci).`;
    super('log_client_changed', `kafkajs ${version} ${difference}. ${advice}`);
  }
}

/** The protocol's name of the error (`NOT_LEADER_FOR_PARTITION`) wherever kafkajs wrapped it, or null. */
export function protocolErrorType(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('type' in cause && typeof cause.type === 'string') return cause.type;
  }
  return null;
}

/** What is no refusal is taken for an outage: the caller waits and tries again. */
export function toLogError(error: unknown, brokers: readonly string[], action: string): VerustreamError {
  if (error instanceof VerustreamError) return error;
  const reason = messageOf(error);
  const where = `Kafka (${brokers.join(', ')})`;
  if (FORBIDDEN.test(protocolErrorType(error) ?? '')) {
    const message = `${where} refused to ${action}: ${reason}. Give this client the rights on topics verustream.*`;
    return new PermanentError('log_forbidden', message, { cause: error });
  }
  return new LogUnreachable(`${where} did not ${action}: ${reason}. Check KAFKA_BROKERS.`, { cause: error });
}

/** What to tell a person of it; nothing is decided by that. */
export function explanationOf(error: PermanentError): string {
  return error.message;
}
