import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../../schemas/errors.ts';
import { protocolErrorType, toLogError } from './kafka-errors.ts';

const NAMES = ['TOPIC_AUTHORIZATION_FAILED', 'SASL_AUTHENTICATION_FAILED', 'NOT_LEADER_FOR_PARTITION', 'fenced'];
const texts = fc.oneof(fc.string(), fc.constantFrom(...NAMES));
const typed = (message: string, type: string) => Object.assign(new Error(message), { type });

describe('errors of kafkajs', () => {
  it('are classified by their type, whatever their message is', () => {
    fc.assert(
      fc.property(texts, (message) => {
        expect(protocolErrorType(new Error(message))).toBeNull();
        expect(toLogError(new Error(message), [], 'answer')).toMatchObject({ code: 'log_unreachable' });
        const moved = toLogError(typed(message, 'NOT_LEADER_FOR_PARTITION'), [], 'answer');
        expect(moved).toBeInstanceOf(RetryableError);
        const forbidden = toLogError(typed(message, 'TOPIC_AUTHORIZATION_FAILED'), [], 'answer');
        expect(forbidden).toMatchObject({ code: 'log_forbidden' });
      }),
    );
  });

  it('keep their type however deeply they are wrapped', () => {
    const cause = typed('', 'OFFSET_OUT_OF_RANGE');
    expect(protocolErrorType(new Error('tried 5 times', { cause: new Error('failed', { cause }) }))).toBe(cause.type);
  });
});
