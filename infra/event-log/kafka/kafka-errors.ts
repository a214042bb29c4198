/** Maps errors of kafkajs to errors of the log. */
import { messageOf, PermanentError, VerustreamError } from '../../../schemas/errors.ts';
import { LogUnreachable } from '../log-errors.ts';

const FORBIDDEN = /AUTHORIZATION_FAILED|SASL|AUTHENTICATION/;

/** The version of kafkajs that package.json pins and the tests run. */
export const TESTED_KAFKAJS = '2.2.4';

/** The installed kafkajs lacks internals that reading needs beyond its typed interface. */
export class KafkaClientChanged extends PermanentError {
  constructor(version: string, difference: string) {
    const advice = `This program needs kafkajs ${TESTED_KAFKAJS}: install the version that package.json names (npm ci).`;
    super('log_client_changed', `kafkajs ${version} ${difference}. ${advice}`);
  }
}

/** Returns the protocol's name of the error (`NOT_LEADER_FOR_PARTITION`), however deeply kafkajs wrapped it, or null. */
export function protocolErrorType(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('type' in cause && typeof cause.type === 'string') return cause.type;
  }
  return null;
}

/** Any error that is not a refusal counts as an outage, so the caller waits and retries. */
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
