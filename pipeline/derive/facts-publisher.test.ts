import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { StagePosition } from '../../infra/postgres/stage-positions.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';
import type { FactsRecord } from '../../schemas/log-records.ts';
import { createTestLog, type TestLog } from '../../test/laws/replay.ts';
import { factsTopic } from '../../test/laws/topic.ts';
import { balance, blockFact, blockOf, identity } from '../../test/support/pipeline/sinks/made-facts.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { FactsBehindStores } from './derive-errors.ts';
import { openFactsPublisher } from './facts-publisher.ts';

let log: TestLog;

beforeEach(async () => {
  log = await createTestLog();
});

afterEach(() => log.drop());

const at = (position: number): StagePosition => {
  return { position, height: position, hash: blockFact(position).hash, clock: 0 };
};
const blocks = (from: number, to: number, txIndex = 0) =>
  Array.from({ length: to - from + 1 }, (_, index) => blockOf(from + index, [identity('iA', txIndex)]));

async function publish(
  from: number,
  to: number,
  options: { committed?: number; txIndex?: number } = {},
): Promise<void> {
  const committed = options.committed === undefined || options.committed < 0 ? null : at(options.committed);
  const publisher = await openFactsPublisher(log, 'c', committed);
  await publisher.append(blocks(from, to, options.txIndex), committed);
  await publisher.close();
}

async function topic(): Promise<string[]> {
  return (await factsTopic(log, 'c')).map(({ payload }) => {
    const record = decodeFactsRecord(payload);
    return `${record.position}: ${record.kind} of ${record.source} at ${record.height}`;
  });
}

describe('the facts topic', () => {
  it('has one record for each block, with those of its facts that are published', async () => {
    const publisher = await openFactsPublisher(log, 'c', null);
    await publisher.append([blockOf(0, [balance('R1', 1n), identity('iA', 0)])], null);
    await publisher.close();
    const [record] = await factsTopic(log, 'c');
    const decoded = record && decodeFactsRecord(record.payload);
    expect(decoded).toMatchObject({ kind: 'facts', position: 0, source: 0, height: 0, hash: blockFact(0).hash });
    expect(decoded?.kind === 'facts' && decoded.facts.map(({ type }) => type)).toEqual(['block', 'identity']);
  });

  it('hands its readers the same records as decoding the log', async () => {
    const handed: FactsRecord[] = [];
    const readers = { hold: (_topic: string, _chain: string, record: FactsRecord) => void handed.push(record) };
    const publisher = await openFactsPublisher(log, 'c', null, readers as Pick<TopicReader, 'hold'>);
    const folded = foldRecording().derived;
    const derived = folded.map(({ facts }, height) => ({ ...blockOf(height, []), facts }));
    await publisher.append(derived, null);
    await publisher.rewind(
      { kind: 'rewind', position: folded.length, height: 3, hash: blockFact(3).hash, fromHeight: 9 },
      null,
    );
    await publisher.close();
    const decoded = (await factsTopic(log, 'c')).map(({ payload }) => decodeFactsRecord(payload));
    expect(decoded).toHaveLength(folded.length + 1);
    expect(handed).toStrictEqual(decoded);
  });

  it('skips records that it already has from an uncommitted batch, whatever the batches', async () => {
    await publish(0, 4);
    const before = await factsTopic(log, 'c');
    await publish(0, 2);
    expect(await factsTopic(log, 'c')).toEqual(before);
    await publish(2, 6, { committed: 1 });
    expect((await factsTopic(log, 'c')).slice(0, 5)).toEqual(before);
    expect(await topic()).toHaveLength(7);
  });

  it('rewinds uncommitted records that another version of the program derived differently', async () => {
    await publish(0, 3);
    await publish(2, 4, { committed: 1, txIndex: 9 });
    expect(await topic()).toEqual([
      '0: facts of 0 at 0',
      '1: facts of 1 at 1',
      '2: facts of 2 at 2',
      '3: facts of 3 at 3',
      '4: rewind of 1 at 1',
      '5: facts of 2 at 2',
      '6: facts of 3 at 3',
      '7: facts of 4 at 4',
    ]);
    const back = (await factsTopic(log, 'c'))[4];
    expect(back && decodeFactsRecord(back.payload)).toMatchObject({ hash: blockFact(1).hash, fromHeight: 3 });
    // Later records continue from the new positions, even after another crash.
    await publish(3, 5, { committed: 2, txIndex: 9 });
    expect((await topic()).slice(7)).toEqual(['7: facts of 4 at 4', '8: facts of 5 at 5']);
  });

  it('rewinds everything when another version derived it differently from the start', async () => {
    await publish(0, 1);
    await publish(0, 1, { txIndex: 9 });
    expect((await topic()).slice(2)).toEqual(['2: rewind of -1 at -1', '3: facts of 0 at 0', '4: facts of 1 at 1']);
  });

  it('contains rewinds', async () => {
    const publisher = await openFactsPublisher(log, 'c', null);
    await publisher.append(blocks(0, 3), null);
    const rewind = { kind: 'rewind', position: 4, height: 1, hash: blockFact(1).hash, fromHeight: 3 } as const;
    await publisher.rewind(rewind, at(3));
    await publisher.append([blockOf(2, [], 5)], { ...at(4), height: 1 });
    await publisher.close();
    expect((await topic()).slice(4)).toEqual(['4: rewind of 4 at 1', '5: facts of 5 at 2']);
  });

  it('must not end before the stores', async () => {
    await publish(0, 3);
    await expect(openFactsPublisher(log, 'c', at(4))).rejects.toThrow(FactsBehindStores);
    await expect(openFactsPublisher(log, 'new', at(0))).rejects.toThrow(FactsBehindStores);
  });
});
