/** A topic that a broker does not know is no empty topic once it has answered. */
import { expect, it } from 'vitest';
import type { KafkaConnection } from './kafka-connection.ts';
import { createPartitionFetcher } from './partition-fetcher.ts';
import { createPartitionReader } from './partition-reader.ts';

const EMPTY = { lastStableOffset: '0', abortedTransactions: [], messages: [] };

it('a topic that was there before is away, not empty', async () => {
  let isKnown = false;
  const leader = { fetch: async () => EMPTY, start: async () => 0, end: async () => 0 };
  const connection: KafkaConnection = {
    withLeader: async (_topic, _action, request) => (isKnown ? request(leader) : null),
    close: async () => undefined,
  };
  const fetcher = createPartitionFetcher(connection, 'verustream.blocks.vrsc');
  const reader = createPartitionReader(fetcher, 'blocks/vrsc');
  const limits = { maxRecords: 1, maxBytes: 1 };
  const asked = () => [
    reader.tail(),
    reader.read(0, limits),
    fetcher.end(),
    fetcher.fetch(0, { maxBytes: 1, waitMs: 0 }),
  ];
  expect(await Promise.all(asked())).toEqual([null, [], null, null]); // before its first writer has created it
  isKnown = true;
  await Promise.all(asked());
  isKnown = false;
  const away = expect.objectContaining({ reason: expect.objectContaining({ code: 'log_unreachable' }) });
  expect(await Promise.allSettled(asked())).toEqual([away, away, away, away]);
});
