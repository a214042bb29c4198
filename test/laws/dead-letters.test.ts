/** The laws of blocks that cannot be decoded: they stop nothing, are reported, and leave no trace in the stores once they are fixed. */
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { readStagePosition } from '../../infra/postgres/stage-positions.ts';
import { isRedriven, requestRedrive } from '../../pipeline/derive/redrive.ts';
import { runDerive } from '../../pipeline/derive/run-derive.ts';
import type { Probe } from '../../processors/faults/derive-with-dead-letters.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';
import type { FactsAppended } from '../../schemas/log-records.ts';
import { storeDigests } from '../support/pipeline/verify/all-store-digests.ts';
import { batchSize, crashes, historyPlan, makeHistory, RUNS } from './arbitraries.ts';
import { recordedBranches, type UnplacedRecord, withReorganisation } from './chain-records.ts';
import { useLawChains } from './law-chains.ts';
import { chainConfig, deriveToEnd, deriveWithCrashes, NATIVE } from './replay.ts';
import { factsTopic, topicOf } from './topic.ts';

const MINUTES = 60_000;
const settings = { numRuns: Math.ceil(RUNS / 3), endOnFailure: process.env.LAWS_RUNS === undefined };

const { world, chainWith, straight } = useLawChains();

interface Letter {
  readonly height: number;
  readonly scope: string;
  readonly code: string;
}

async function lettersOf(chain: string): Promise<readonly Letter[]> {
  const { rows } = await world.stores.postgres.pool.query<Letter>(
    'SELECT height, scope, code FROM dead_letters WHERE chain = $1 ORDER BY height, ordinal',
    [chain],
  );
  return rows;
}

/** The topic's records that no rewind removed, without their positions. */
async function heldFacts(chain: string): Promise<readonly Omit<FactsAppended, 'position' | 'source'>[]> {
  const held: Omit<FactsAppended, 'position' | 'source'>[] = [];
  for (const { payload } of await factsTopic(world.log, chain)) {
    const { position: _, source: __, ...record } = decodeFactsRecord(payload);
    if (record.kind === 'rewind') held.length = record.height + 1;
    else held.push(record);
  }
  return held;
}

/** Ways in which the text of a block may be wrong. None changes the label of the record. */
const DAMAGES = {
  cut: (text: string) => text.slice(0, -9),
  'not JSON': (text: string) => `${text.slice(0, 40)}\u0000${text.slice(40)}`,
  'no transactions': (text: string) => text.replace('"tx":[', '"tx":7,"ty":['),
  'a value that is not a number': (text: string) => text.replace(/"valueZat":\d+,"valueSat":\d+/, '"valueSat":"many"'),
  'a value beyond int64': (text: string) => text.replace(/"valueZat":\d+,"valueSat":/, '$&9999999999999'),
  'no script': (text: string) => text.replace(/"scriptPubKey":\{[^}]*\}/, '"scriptPubKey":null'),
  'addresses of another kind': (text: string) => text.replace(/"addresses":\["/, '"addresses":[null,"'),
  'no txid': (text: string) => text.replace(/\{"txid":"[0-9a-f]{64}","over/, '{"txid":null,"over'),
  'inputs of another kind': (text: string) => text.replace(/"vin":\[.*?\],"vout"/, '"vin":{},"vout"'),
} as const;
const harm = fc.record({
  at: fc.nat(),
  how: fc.constantFrom(...(Object.keys(DAMAGES) as (keyof typeof DAMAGES)[])),
});

describe('a block that cannot be decoded', () => {
  it(
    'stops nothing and is reported, for any batches, crashes and abandoned branches',
    async () => {
      const damages = fc.array(harm, { minLength: 1, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(historyPlan(5), damages, batchSize, crashes(3), async (plan, wanted, batch, planned) => {
          const { happened, stayed } = makeHistory(plan);
          const replaced = new Map<UnplacedRecord, UnplacedRecord>();
          for (const { at, how } of wanted) {
            const record = stayed[at % stayed.length];
            if (record?.kind !== 'block' || replaced.has(record)) continue;
            const block = Buffer.from(DAMAGES[how](Buffer.from(record.block).toString()));
            replaced.set(record, { ...record, block });
          }
          const harmed = (records: readonly UnplacedRecord[]) =>
            records.map((record) => replaced.get(record) ?? record);

          const quiet = await straight(harmed(stayed));
          const letters = await lettersOf(quiet);
          const heights = new Set(letters.map(({ height }) => height));
          for (const { height } of replaced.values()) expect(heights).toContain(height);
          expect((await readStagePosition(world.stores.postgres.pool, 'derive', quiet))?.height).toBe(
            stayed.length - 1,
          );

          const eventful = await chainWith(harmed(happened));
          await deriveWithCrashes(eventful, { ...world, batch }, planned);
          expect(await storeDigests(world.stores, eventful)).toEqual(await storeDigests(world.stores, quiet));
        }),
        settings,
      );
    },
    60 * MINUTES,
  );
});

/** A processor that fails on some outputs, transactions and blocks, which are chosen only by their hashes. */
function failingProcessor(oneIn: number): Probe {
  const isChosen = (hash: string, salt: number): boolean => Number.parseInt(hash.slice(8, 16), 16) % oneIn === salt;
  return ({ height, hash, tx: transactions }) => {
    if (height > 0 && isChosen(hash, 0)) throw new Error('fails on this block');
    for (const { txid, vin, vout } of transactions) {
      if (vin.length > 0 && isChosen(txid, 1)) throw new TypeError('fails on this transaction');
      const { n, scriptPubKey } = vout.at(-1) ?? {};
      if (n !== undefined && scriptPubKey?.type !== 'undecodable' && isChosen(txid, 2)) {
        throw new RangeError('fails on this output');
      }
    }
  };
}

describe('redriven after the fix', () => {
  it(
    'the stores and the topic equal those of a log that never failed, whatever fails on the way',
    async () => {
      let found = 0;
      await fc.assert(
        fc.asyncProperty(
          historyPlan(5),
          fc.integer({ min: 4, max: 12 }),
          batchSize,
          crashes(3),
          crashes(4),
          async (plan, oneIn, batch, planned, later) => {
            const { happened, stayed } = makeHistory(plan);
            const chain = await chainWith(happened);
            await deriveWithCrashes(chain, { ...world, batch, probe: failingProcessor(oneIn) }, planned);
            const letters = await lettersOf(chain);
            found += letters.length;
            const id = await requestRedrive(world.stores.postgres.pool, chain, letters[0]?.height ?? 0);
            await deriveWithCrashes(chain, { ...world, batch }, later);
            expect(await isRedriven(world.stores.postgres.pool, id)).toBe(true);

            const quiet = await straight(stayed);
            expect(await storeDigests(world.stores, chain)).toEqual(await storeDigests(world.stores, quiet));
            expect(await heldFacts(chain)).toEqual(await heldFacts(quiet));
          },
        ),
        settings,
      );
      expect(found).toBeGreaterThan(0);
    },
    60 * MINUTES,
  );

  it(
    'the recorded chain does too, with its identities, currencies and conversions',
    async () => {
      const { main, ...branches } = recordedBranches();
      const chain = await chainWith(withReorganisation({ main, ...branches }));
      await deriveToEnd(chain, { ...world, probe: failingProcessor(60) });
      const letters = await lettersOf(chain);
      const scopes = new Set(letters.map(({ scope }) => scope));
      expect([...scopes].sort()).toEqual(['block', 'input', 'output', 'transaction']);
      await requestRedrive(world.stores.postgres.pool, chain, letters[0]?.height ?? 0);
      await deriveWithCrashes(chain, world, [
        { point: 'clickhouse', passing: 0 },
        { point: 'postgres', passing: 0 },
        { point: 'facts', passing: 0 },
      ]);
      const quiet = await straight(main);
      expect(await storeDigests(world.stores, chain)).toEqual(await storeDigests(world.stores, quiet));
      expect(await heldFacts(chain)).toEqual(await heldFacts(quiet));
    },
    10 * MINUTES,
  );

  it('a followed chain is derived again while it runs', async () => {
    const { stayed } = makeHistory({ seed: 11, steps: [{ blocks: 30, back: 0 }] });
    const chain = await chainWith(stayed);
    const failing = failingProcessor(4);
    const { pool } = world.stores.postgres;
    const end = new AbortController();
    let isBroken = true;
    const running = runDerive({
      chain: chainConfig(chain),
      nativeCurrencyId: NATIVE,
      ...world,
      logger: pino({ level: 'silent' }),
      status: () => undefined,
      signal: end.signal,
      probe: (block) => {
        if (isBroken) failing(block);
      },
    });
    const height = async () => (await readStagePosition(pool, 'derive', chain))?.height;
    await expect.poll(height).toBe(29);
    expect(await lettersOf(chain)).not.toEqual([]);
    isBroken = false;
    const id = await requestRedrive(pool, chain, 0);
    await expect.poll(() => isRedriven(pool, id)).toBe(true);
    await expect.poll(height).toBe(29);
    end.abort();
    await running;
    const rewindRecords = topicOf(await factsTopic(world.log, chain)).filter(
      (record) => (record as { kind: string }).kind === 'rewind',
    );
    expect(rewindRecords).toMatchObject([{ height: -1, source: -1 }]);
    expect(await storeDigests(world.stores, chain)).toEqual(await storeDigests(world.stores, await straight(stayed)));
  });
});
