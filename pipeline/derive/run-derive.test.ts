import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { readStagePosition } from '../../infra/postgres/stage-positions.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createChain, type GeneratedChain } from '../../test/generator/chain.ts';
import { blockRecord, type UnplacedRecord } from '../../test/laws/chain-records.ts';
import { chainConfig, createTestLog, deriveToEnd, NATIVE, type TestLog } from '../../test/laws/replay.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { blockOf } from '../../test/support/pipeline/sinks/made-facts.ts';
import { storeDigests } from '../../test/support/pipeline/verify/all-store-digests.ts';
import { cutBackTo, insertFacts } from '../sinks/clickhouse/clickhouse-sink.ts';
import { factsByType } from '../sinks/facts-by-type.ts';
import { EndWithoutRow } from '../sinks/postgres/end-rows.ts';
import { LogBehindStores, LogDiffers } from './derive-errors.ts';
import { requestRedrive } from './redrive.ts';
import { type DeriveOptions, runDerive } from './run-derive.ts';

let stores: TestStores;
let log: TestLog;

beforeAll(async () => {
  stores = await createTestStores();
  log = await createTestLog();
});

afterAll(async () => {
  await log.drop();
  await stores.close();
});

const newChain = (seed: number, payments = 2): GeneratedChain =>
  createChain({ seed, addresses: 5, transactions: payments, rewinds: true });
const take = (chain: GeneratedChain, count: number): UnplacedRecord[] =>
  Array.from({ length: count }, () => blockRecord(chain.next()));
const position = (chain: string) => readStagePosition(stores.postgres.pool, 'derive', chain);

interface Running {
  readonly statuses: readonly StageStatus[];
  readonly ended: Promise<void>;
  stop(): void;
  /** Resolves when a status matches. */
  until(fits: (status: StageStatus) => boolean): Promise<void>;
}

function start(chain: string, batch?: DeriveOptions['batch']): Running {
  const controller = new AbortController();
  const statuses: StageStatus[] = [];
  const watchers = new Set<() => void>();
  const ended = runDerive({
    chain: chainConfig(chain),
    nativeCurrencyId: NATIVE,
    log,
    stores,
    logger: pino({ level: 'silent' }),
    signal: controller.signal,
    ...(batch && { batch }),
    status: (status) => {
      statuses.push(status);
      for (const watch of watchers) watch();
    },
  });
  return {
    statuses,
    ended,
    stop: () => controller.abort(),
    until: (fits) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          if (statuses.some(fits)) resolve();
        };
        watchers.add(watch);
        ended.catch(reject);
        watch();
      }),
  };
}

describe('running', () => {
  it('catches up, reports it, follows the tip and ends with the signal', async () => {
    const chain = newChain(1);
    await log.append('follow', take(chain, 30));
    const running = start('follow');
    await running.until(({ state, height }) => state === 'following' && height === 29);
    expect(running.statuses[0]).toMatchObject({ state: 'catching_up', height: null, targetHeight: 29 });
    await log.append('follow', take(chain, 1));
    await expect.poll(async () => (await position('follow'))?.height, { interval: 10 }).toBe(30);
    running.stop();
    await running.ended;
    expect(await position('follow')).toMatchObject({ position: 30, height: 30 });
  });

  it('ends after the current batch while it is catching up, and later continues from there', async () => {
    const [blocks, maxBlocks] = [600, 20];
    await log.append('busy', take(newChain(2, 10), blocks));
    const running = start('busy', { maxBlocks });
    await running.until(({ height }) => (height ?? 0) > 100);
    const asked = await position('busy');
    running.stop();
    await running.ended;
    // The next batch is derived while one is being written.
    expect((await position('busy'))?.height).toBeLessThanOrEqual((asked?.height ?? 0) + 2 * maxBlocks);
    await deriveToEnd('busy', { log, stores });
    expect((await position('busy'))?.height).toBe(blocks - 1);
  });

  it('has one owner: a second one waits until the first has ended', async () => {
    const chain = newChain(3);
    await log.append('owned', take(chain, 3));
    const first = start('owned');
    await first.until(({ state }) => state === 'following');
    const second = start('owned');
    await log.append('owned', take(chain, 3));
    await expect.poll(async () => (await position('owned'))?.height).toBe(5);
    expect(second.statuses).toEqual([]);
    first.stop();
    await first.ended;
    await second.until(({ state }) => state === 'following');
    second.stop();
    await second.ended;
  });

  it('waits for an empty log', async () => {
    const running = start('later');
    await running.until(({ state }) => state === 'following');
    await log.append('later', take(newChain(4), 2));
    await expect.poll(async () => (await position('later'))?.height).toBe(1);
    running.stop();
    await running.ended;
  });

  it('applies a rewind and the new branch while it follows', async () => {
    const chain = newChain(5);
    await log.append('bent', take(chain, 10));
    const running = start('bent');
    await running.until(({ state }) => state === 'following');
    await log.append('bent', [{ kind: 'rewind', height: 6, hash: chain.rewind(6), fromHeight: 9 }, ...take(chain, 2)]);
    await expect.poll(async () => (await position('bent'))?.position).toBe(12);
    running.stop();
    await running.ended;
    expect(await position('bent')).toMatchObject({ height: 8 });
  });
});

describe('at start', () => {
  it('removes rows of ClickHouse beyond the commit', async () => {
    const chain = newChain(6);
    await log.append('ahead', take(chain, 5));
    await deriveToEnd('ahead', { log, stores });
    const before = await storeDigests(stores, 'ahead');
    const stray = factsByType([blockOf(5, []), blockOf(6, [])]);
    await insertFacts(stores.clickhouse, stray, { chain: 'ahead', nativeCurrencyId: NATIVE });
    expect(await storeDigests(stores, 'ahead')).not.toEqual(before);
    await deriveToEnd('ahead', { log, stores });
    expect(await storeDigests(stores, 'ahead')).toEqual(before);
  });

  it('removes rows again that rewinds had removed and a power loss has restored', async () => {
    const chain = newChain(14);
    const rewind = (height: number, fromHeight: number): UnplacedRecord => ({
      kind: 'rewind',
      height,
      hash: chain.rewind(height),
      fromHeight,
    });
    await log.append('back', [...take(chain, 8), rewind(5, 7), ...take(chain, 4), rewind(3, 9), ...take(chain, 3)]);
    await deriveToEnd('back', { log, stores });
    const before = await storeDigests(stores, 'back');
    const undone = factsByType([blockOf(6, []), blockOf(7, []), blockOf(4, []), blockOf(9, [], 12)]);
    await insertFacts(stores.clickhouse, undone, { chain: 'back', nativeCurrencyId: NATIVE });
    expect(await storeDigests(stores, 'back')).not.toEqual(before);
    await deriveToEnd('back', { log, stores });
    expect(await storeDigests(stores, 'back')).toEqual(before);
  });

  it('derives everything again when the embedded ClickHouse was emptied', async () => {
    await log.append('emptied', take(newChain(15), 20));
    await deriveToEnd('emptied', { log, stores });
    const before = await storeDigests(stores, 'emptied');
    await cutBackTo(stores.clickhouse, 'emptied', -1);
    expect(await storeDigests(stores, 'emptied')).not.toEqual(before);
    await deriveToEnd('emptied', { log, stores });
    expect(await storeDigests(stores, 'emptied')).toEqual(before);
  });

  it('refuses an empty ClickHouse server, unless a redrive from block 0 was requested', async () => {
    await log.append('elsewhere', take(newChain(16), 20));
    await deriveToEnd('elsewhere', { log, stores });
    const before = await storeDigests(stores, 'elsewhere');
    await cutBackTo(stores.clickhouse, 'elsewhere', -1);
    const ofServer = (clickhouse: ClickHouse): ClickHouse => ({
      ...clickhouse,
      isOwn: false,
      guarded: (prove) => ofServer(clickhouse.guarded(prove)),
    });
    const server = { ...stores, clickhouse: ofServer(stores.clickhouse) };
    await expect(deriveToEnd('elsewhere', { log, stores: server })).rejects.toMatchObject({
      code: 'clickhouse_emptied',
      message: expect.stringMatching(/^ClickHouse holds no block of elsewhere, .* block 19\..* redrive elsewhere 0/),
    });
    expect(await position('elsewhere')).toMatchObject({ height: 19 });
    await requestRedrive(stores.postgres.pool, 'elsewhere', 0);
    await deriveToEnd('elsewhere', { log, stores: server });
    expect(await storeDigests(stores, 'elsewhere')).toEqual(before);
  });

  it('refuses a log that ends before the stores', async () => {
    await log.append('short', take(newChain(7), 5));
    await deriveToEnd('short', { log, stores });
    const other = await createTestLog();
    await other.append('short', take(newChain(7), 3));
    const refused = deriveToEnd('short', { log: other, stores });
    await expect(refused).rejects.toThrow(LogBehindStores);
    await expect(refused).rejects.toMatchObject({ code: 'log_behind_stores' });
    await other.drop();
  });

  it('waits for a log that reads as empty, as with a Kafka broker that does not know the topic yet, and continues once it is there', async () => {
    await log.append('unknown', take(newChain(7), 5));
    await deriveToEnd('unknown', { log, stores });
    const other = await createTestLog();
    const waits = deriveToEnd('unknown', { log: other, stores });
    await expect(waits).rejects.toThrow(RetryableError);
    await expect(waits).rejects.toMatchObject({ code: 'log_empty' });
    await other.drop();
    await log.append('unknown', take(newChain(7), 7).slice(5));
    await deriveToEnd('unknown', { log, stores });
    expect(await position('unknown')).toMatchObject({ height: 6 });
  });

  it('refuses a log of another chain', async () => {
    await log.append('foreign', take(newChain(8), 5));
    await deriveToEnd('foreign', { log, stores });
    const other = await createTestLog();
    await other.append('foreign', take(newChain(9), 9));
    await expect(deriveToEnd('foreign', { log: other, stores })).rejects.toThrow(LogDiffers);
    await other.drop();
  });
});

describe('a log that is wrong', () => {
  it('by a missing rewind ends the stage before the wrong block is stored', async () => {
    const chain = newChain(10);
    const main = take(chain, 6);
    chain.rewind(3);
    await log.append('gap', [...main, ...take(chain, 1)]);
    await expect(deriveToEnd('gap', { log, stores })).rejects.toMatchObject({ code: 'unlinked_block' });
    expect((await position('gap'))?.height ?? -1).toBeLessThan(6);
  });

  it('by a rewind to a block that never existed ends the stage before it changes the stores', async () => {
    const main = take(newChain(11), 6);
    await log.append('nowhere', main);
    await deriveToEnd('nowhere', { log, stores });
    const before = await storeDigests(stores, 'nowhere');
    await log.append('nowhere', [{ kind: 'rewind', height: 3, hash: main[2]?.hash ?? '', fromHeight: 5 }]);
    await expect(deriveToEnd('nowhere', { log, stores })).rejects.toThrow(LogDiffers);
    expect(await storeDigests(stores, 'nowhere')).toEqual(before);
  });

  it('by a record that is labelled as another block ends the stage', async () => {
    const [first, second] = take(newChain(12), 2);
    if (first?.kind !== 'block' || second?.kind !== 'block') throw new TypeError('no blocks');
    await log.append('label', [first, { ...second, block: first.block }]);
    await expect(deriveToEnd('label', { log, stores })).rejects.toThrow(LogDiffers);
  });
});

it('notices when the store has lost outputs that the chain spends', async () => {
  const chain = newChain(13, 6);
  await log.append('lost', take(chain, 20));
  await deriveToEnd('lost', { log, stores });
  await stores.postgres.pool.query(`DELETE FROM outputs WHERE chain = 'lost' AND to_height IS NULL`);
  await log.append('lost', take(chain, 20));
  const failed = deriveToEnd('lost', { log, stores });
  await expect(failed).rejects.toSatisfy(
    (error) => error instanceof EndWithoutRow || (error as { code: string }).code === 'unknown_output',
  );
});
