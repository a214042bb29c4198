import { describe, expect, it } from 'vitest';
import { committedMessages } from './committed-messages.ts';
import type { FetchedMessage } from './topic-leader.ts';

const ABORT = Buffer.from([0, 0, 0, 0]);
const COMMIT = Buffer.from([0, 0, 0, 1]);

function message(offset: number, producerId: string | null, control?: Buffer): FetchedMessage {
  return {
    offset: String(offset),
    key: control ?? Buffer.from(String(offset)),
    value: null,
    headers: {},
    isControlRecord: control !== undefined,
    producerId: producerId ?? '-1',
    inTransaction: producerId !== null,
  };
}

const offsets = (messages: readonly FetchedMessage[]) => messages.map(({ offset }) => Number(offset));

describe('committed messages', () => {
  it('are those without a transaction and those of committed transactions, without markers', () => {
    const fetched = [message(0, null), message(1, 'a'), message(2, 'a', COMMIT), message(3, null)];
    expect(offsets(committedMessages(fetched, []))).toEqual([0, 1, 3]);
  });

  it('omit aborted transactions that began before the fetch, however many and in whatever order', () => {
    const fetched = [
      message(10, 'a'),
      message(11, 'b'),
      message(12, 'c'),
      message(13, 'a', ABORT),
      message(14, 'b', ABORT),
    ];
    const aborted = [
      { producerId: 'b', firstOffset: '7' },
      { producerId: 'a', firstOffset: '3' },
    ];
    expect(offsets(committedMessages(fetched, aborted))).toEqual([12]);
  });

  it('show a producer again after its abort, and hide its next aborted transaction', () => {
    const fetched = [
      message(0, 'a'),
      message(1, 'a', ABORT),
      message(2, 'a'),
      message(3, 'a', COMMIT),
      message(4, 'a'),
      message(5, 'a', ABORT),
    ];
    const aborted = [
      { producerId: 'a', firstOffset: '0' },
      { producerId: 'a', firstOffset: '4' },
    ];
    expect(offsets(committedMessages(fetched, aborted))).toEqual([2]);
  });

  it('compare offsets as numbers, even beyond 2^53', () => {
    const far = 2n ** 60n;
    const fetched = [9n, 10n, far, far + 1n].map((offset) => ({ ...message(0, 'a'), offset: String(offset) }));
    const aborted = [{ producerId: 'a', firstOffset: String(far + 1n) }];
    expect(committedMessages(fetched, aborted)).toHaveLength(3);
  });
});
