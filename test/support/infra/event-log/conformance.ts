/** Behaviour that every implementation of the log must have. Run by embedded.test.ts and kafka.test.ts on real storage. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordChecksum } from '../../../../infra/event-log/checksum.ts';
import type { EventLog, LogRecord, LogWriter, ReadLimits } from '../../../../infra/event-log/event-log.ts';
import { MAX_RECORD_BYTES } from '../../../../infra/event-log/limits.ts';
import type { AppenderOptions } from './append-until-killed.ts';
import { killWriter } from './kill-writer.ts';
import { isTestRecord, testRecord, testRecords } from './test-records.ts';

export interface LogStorage {
  /** Opens another log on the same storage; the suite closes it. */
  open(): EventLog;
  /** Options for a process that appends to the same storage. */
  readonly appender: AppenderOptions;
}

export interface ConformanceOptions {
  /** Empty storage for each test. */
  createStorage(): Promise<LogStorage>;
  /** Effect of a second writer: it is refused and the first continues, or it takes over. */
  readonly secondWriter: 'is refused' | 'takes over';
  /** How often a writer process is killed; VERUSTREAM_KILLS overrides it. */
  readonly kills: number;
}

const ALL: ReadLimits = { maxRecords: 1_000_000, maxBytes: 1_000_000_000 };
const KILLS_TIMEOUT_MS = 10_000;

const digest = ({ position, payload }: LogRecord): string =>
  `${position}: ${payload.byteLength} bytes, crc ${recordChecksum(position, payload)}`;

const code = (expected: string) => expect.objectContaining({ code: expected });

/** Defines the suite inside the caller's describe. */
export function describeEventLog({ createStorage, secondWriter, kills }: ConformanceOptions): void {
  let storage: LogStorage;
  let opened: EventLog[];
  let log: EventLog;

  const open = (): EventLog => {
    const another = storage.open();
    opened.push(another);
    return another;
  };
  const writer = (from: EventLog = log): Promise<LogWriter> => from.openWriter('blocks', 'vrsc');
  const read = (position: number, limits = ALL, from = log): Promise<readonly LogRecord[]> =>
    from.read('blocks', 'vrsc', position, limits);
  /** Short texts that print well, whatever class the bytes have. */
  const digests = (records: readonly LogRecord[]): string[] => records.map(digest);
  const positions = (records: readonly LogRecord[]): number[] => records.map((record) => record.position);

  beforeEach(async () => {
    storage = await createStorage();
    opened = [];
    log = open();
  });

  afterEach(async () => {
    for (const each of opened) await each.close();
  });

  describe('order', () => {
    it('is empty before the first append, for readers and for a writer', async () => {
      expect(await log.last('blocks', 'vrsc')).toBeNull();
      expect(await read(0)).toEqual([]);
      expect((await writer()).next).toBe(0);
      expect(await log.last('blocks', 'vrsc')).toBeNull();
    });

    it('returns records as they were appended, whatever the batch sizes', async () => {
      const appending = await writer();
      for (const batch of [1, 5, 1, 30, 2]) await appending.append(testRecords(appending.next, batch));
      expect(appending.next).toBe(39);
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 39)));
      const last = await log.last('blocks', 'vrsc');
      expect(last && digest(last)).toBe(digest(testRecord(38)));
    });

    it('keeps empty records', async () => {
      const appending = await writer();
      const records = [0, 1, 2].map((position) => ({ position, payload: new Uint8Array(position % 2) }));
      await appending.append(records);
      await appending.append(records);
      expect(digests(await read(0))).toEqual(digests(records));
      expect((await log.last('blocks', 'vrsc'))?.payload).toHaveLength(0);
    });

    it('keeps partitions apart', async () => {
      const blocks = await writer();
      const facts = await log.openWriter('facts', 'vrsc');
      const other = await log.openWriter('blocks', 'vdex');
      await blocks.append(testRecords(0, 3));
      await facts.append(testRecords(0, 1));
      await other.append(testRecords(0, 2));
      expect((await log.last('blocks', 'vrsc'))?.position).toBe(2);
      expect((await log.last('facts', 'vrsc'))?.position).toBe(0);
      expect((await log.last('blocks', 'vdex'))?.position).toBe(1);
    });

    it('keeps concurrent appends of one writer in their order', async () => {
      const appending = await writer();
      await Promise.all([0, 4, 8, 12].map((from) => appending.append(testRecords(from, 4))));
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 16)));
    });

    it('finishes the appends in progress when the writer is closed', async () => {
      const appending = await writer();
      const begun = [0, 400].map((from) => appending.append(testRecords(from, 400)));
      await appending.close();
      for (const each of await Promise.allSettled(begun)) {
        if (each.status === 'rejected') expect(each.reason).toEqual(code('log_closed'));
      }
      const held = (await read(0)).length;
      expect([0, 400, 800]).toContain(held);
      const next = await writer();
      expect(next.next).toBe(held);
      await next.append([testRecord(held)]);
      expect(digests(await read(0))).toEqual(digests(testRecords(0, held + 1)));
    });

    it('refuses a batch with a gap before or inside it, and appends none of it', async () => {
      const appending = await writer();
      await appending.append(testRecords(0, 2));
      await expect(appending.append([testRecord(3)])).rejects.toEqual(code('log_gap'));
      await expect(appending.append([testRecord(2), testRecord(4)])).rejects.toEqual(code('log_gap'));
      await expect(appending.append([testRecord(2), testRecord(2)])).rejects.toEqual(code('log_gap'));
      await expect(appending.append([testRecord(-1)])).rejects.toEqual(code('log_gap'));
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 2)));
      await appending.append([testRecord(2)]);
      expect(appending.next).toBe(3);
    });

    it('refuses a chain name that cannot name a file or a topic', async () => {
      for (const chain of ['', '../up', 'VRSC', 'a'.repeat(65)]) {
        await expect(log.openWriter('blocks', chain)).rejects.toEqual(code('log_chain_name'));
      }
    });
  });

  describe('repeated appends', () => {
    it('skip records that the log already has and append the rest', async () => {
      const appending = await writer();
      await appending.append(testRecords(0, 5));
      await appending.append(testRecords(0, 5));
      await appending.append(testRecords(3, 4));
      await appending.append([]);
      expect(appending.next).toBe(7);
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 7)));
    });

    it('do so after a restart, too', async () => {
      await (await writer()).append(testRecords(0, 5));
      await log.close();
      log = open();
      const appending = await writer();
      expect(appending.next).toBe(5);
      await appending.append(testRecords(2, 6));
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 8)));
    });

    it('refuse a different record at an existing position, and append none of that batch', async () => {
      const appending = await writer();
      await appending.append(testRecords(0, 5));
      const other = { position: 3, payload: Buffer.from('another') };
      await expect(appending.append([testRecord(2), other, testRecord(4), testRecord(5)])).rejects.toEqual(
        code('log_conflict'),
      );
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 5)));
      await appending.append([testRecord(5)]);
      expect(appending.next).toBe(6);
    });
  });

  describe('a second writer', () => {
    it('of the same log replaces the first', async () => {
      const first = await writer();
      await first.append(testRecords(0, 2));
      const second = await writer();
      expect(second.next).toBe(2);
      await expect(first.append([testRecord(2)])).rejects.toEqual(code('log_writer_fenced'));
      await second.append([testRecord(2)]);
      await expect(first.append([testRecord(3)])).rejects.toEqual(code('log_writer_fenced'));
      await second.append([testRecord(3)]);
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 4)));
    });

    it(`of another log ${secondWriter}`, async () => {
      const first = await writer();
      await first.append(testRecords(0, 2));
      const other = open();
      if (secondWriter === 'is refused') {
        await expect(writer(other)).rejects.toEqual(code('log_writer_fenced'));
        await expect(writer(other)).rejects.toThrow(new RegExp(`pid ${process.pid}`));
        await first.append([testRecord(2)]);
        await log.close();
        expect((await writer(other)).next).toBe(3);
        return;
      }
      const second = await writer(other);
      await expect(first.append([testRecord(2)])).rejects.toEqual(code('log_writer_fenced'));
      await second.append([testRecord(2)]);
      await expect(first.append([testRecord(2)])).rejects.toEqual(code('log_writer_fenced'));
      await second.append([testRecord(3)]);
      expect(digests(await read(0))).toEqual(digests(testRecords(0, 4)));
    });

    it('may open once the first is closed, which then appends no more', async () => {
      const first = await writer();
      await first.append([testRecord(0)]);
      await first.close();
      await expect(first.append([testRecord(1)])).rejects.toEqual(code('log_closed'));
      const second = await writer();
      await second.append([testRecord(1)]);
      expect(second.next).toBe(2);
    });
  });

  describe('read', () => {
    it('begins anywhere and stops at its limits', async () => {
      const appending = await writer();
      const count = 120;
      for (let next = 0; next < count; next = appending.next) {
        await appending.append(testRecords(next, Math.min(1 + (next % 23), count - next)));
      }
      const limits = fc.record({ maxRecords: fc.integer({ min: 1, max: 200 }), maxBytes: fc.nat({ max: 50_000 }) });
      await fc.assert(
        fc.asyncProperty(
          fc.nat({ max: count + 5 }),
          limits,
          fc.boolean(),
          async (from, { maxRecords, maxBytes }, fresh) => {
            const reader = fresh ? storage.open() : log;
            const records = await read(from, { maxRecords, maxBytes }, reader);
            if (fresh) await reader.close();
            expect(digests(records)).toEqual(digests(testRecords(from, records.length)));
            if (from >= count) {
              expect(records).toEqual([]);
              return;
            }
            const bytes = records.reduce((sum, { payload }) => sum + payload.byteLength, 0);
            expect(records.length).toBeGreaterThan(0);
            expect(records.length).toBeLessThanOrEqual(maxRecords);
            if (records.length > 1) expect(bytes).toBeLessThanOrEqual(maxBytes);
            const isWhole = from + records.length === count || records.length === maxRecords;
            const following = testRecord(from + records.length).payload.byteLength;
            expect(isWhole || bytes + following > maxBytes).toBe(true);
          },
        ),
        { numRuns: 60 },
      );
    });

    it('pages through the whole log with any page size', async () => {
      const appending = await writer();
      for (let i = 0; i < 6; i += 1) await appending.append(testRecords(appending.next, 50));
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 7, max: 400 }), async (maxRecords) => {
          const pages: LogRecord[] = [];
          for (;;) {
            const page = await read(pages.length, { maxRecords, maxBytes: 60_000 });
            if (page.length === 0) break;
            pages.push(...page);
          }
          expect(digests(pages)).toEqual(digests(testRecords(0, 300)));
        }),
        { numRuns: 8 },
      );
    });

    it('sees what another log appends', async () => {
      const reader = open();
      expect(await read(0, ALL, reader)).toEqual([]);
      const appending = await writer();
      await appending.append(testRecords(0, 2));
      expect(digests(await read(0, ALL, reader))).toEqual(digests(testRecords(0, 2)));
      await appending.append(testRecords(2, 2));
      expect(digests(await read(2, ALL, reader))).toEqual(digests(testRecords(2, 2)));
      expect((await reader.last('blocks', 'vrsc'))?.position).toBe(3);
    });
  });

  describe('large records', () => {
    it('are stored up to the limit, alone and between small ones, and are refused above it with both sizes', async () => {
      const appending = await writer();
      const large = { position: 1, payload: Buffer.alloc(MAX_RECORD_BYTES, 'large') };
      await appending.append([testRecord(0), large, testRecord(2)]);
      const tooLarge = { position: 3, payload: Buffer.alloc(MAX_RECORD_BYTES + 1) };
      await expect(appending.append([tooLarge])).rejects.toEqual(code('log_record_too_large'));
      await expect(appending.append([tooLarge])).rejects.toThrow(`${MAX_RECORD_BYTES + 1} bytes`);
      await appending.append([testRecord(3)]);
      const reader = open();
      const [before, found] = await read(0, ALL, reader);
      expect(before && digest(before)).toBe(digest(testRecord(0)));
      expect(Buffer.compare(found?.payload ?? Buffer.alloc(0), large.payload)).toBe(0);
      expect(positions(await read(1, { maxRecords: 9, maxBytes: 1 }, reader))).toEqual([1]);
      expect(positions(await read(2, ALL, reader))).toEqual([2, 3]);
    });

    it('may be many in one append', async () => {
      const appending = await writer();
      const payload = Buffer.alloc(0.7 * MAX_RECORD_BYTES);
      await appending.append([0, 1, 2].map((position) => ({ position, payload })));
      expect(positions(await read(0))).toEqual([0, 1, 2]);
    });
  });

  describe('waitFor', () => {
    it('returns at once when the position exists', async () => {
      await (await writer()).append(testRecords(0, 2));
      const began = Date.now();
      await log.waitFor('blocks', 'vrsc', 1, 20_000);
      expect(Date.now() - began).toBeLessThan(5_000);
    });

    it('wakes on an append by this log', async () => {
      const appending = await writer();
      const woken = log.waitFor('blocks', 'vrsc', 0, 30_000).then(() => 'woken');
      await appending.append([testRecord(0)]);
      const later = new Promise((resolve) => setImmediate(() => setImmediate(resolve, 'late')));
      expect(await Promise.race([woken, later])).toBe('woken');
    });

    it('wakes soon after an append by another log', async () => {
      const appending = await writer();
      const other = open();
      const woken = other.waitFor('blocks', 'vrsc', 0, 30_000);
      const began = Date.now();
      await appending.append([testRecord(0)]);
      await woken;
      expect(Date.now() - began).toBeLessThan(10_000);
      expect(positions(await read(0, ALL, other))).toEqual([0]);
    });

    it('returns after its timeout, when it is aborted, and when the log is closed', async () => {
      const aborted = new AbortController();
      const began = Date.now();
      await log.waitFor('blocks', 'vrsc', 0, 150);
      expect(Date.now() - began).toBeGreaterThanOrEqual(140);
      const waits = [log.waitFor('blocks', 'vrsc', 0, 60_000, aborted.signal), log.waitFor('facts', 'vrsc', 0, 60_000)];
      aborted.abort();
      await waits[0];
      await log.waitFor('blocks', 'vrsc', 0, 60_000, aborted.signal);
      await log.close();
      await waits[1];
      await log.waitFor('blocks', 'vrsc', 0, 60_000);
      expect(Date.now() - began).toBeLessThan(20_000);
    });
  });

  describe('a closed log', () => {
    it('reports that it is closed', async () => {
      const appending = await writer();
      await log.close();
      await log.close();
      await expect(appending.append([testRecord(0)])).rejects.toEqual(code('log_closed'));
      await expect(read(0)).rejects.toEqual(code('log_closed'));
      await expect(writer()).rejects.toEqual(code('log_closed'));
    });
  });

  describe('a writer that is killed', () => {
    const times = Number(process.env.VERUSTREAM_KILLS ?? kills);

    it(
      `${times} times in the middle of an append leaves no gap, no duplicate, and every acknowledged record`,
      async () => {
        let acknowledged = 0;
        for (let kill = 0; kill < times; kill += 1) {
          acknowledged = Math.max(acknowledged, await killWriter(storage.appender, Math.random() * 60));
          const last = await log.last('blocks', 'vrsc');
          expect((last?.position ?? -1) + 1).toBeGreaterThanOrEqual(acknowledged);
        }
        const appending = await writer();
        expect(appending.next).toBeGreaterThanOrEqual(acknowledged);
        await appending.append([testRecord(appending.next)]);
        let next = 0;
        for (;;) {
          const records = await read(next, { maxRecords: 1_000, maxBytes: 10_000_000 });
          if (records.length === 0) break;
          for (const record of records) {
            if (record.position !== next || !isTestRecord(record))
              throw new Error(`record ${record.position} at ${next}`);
            next += 1;
          }
        }
        expect(next).toBe(appending.next);
        expect(acknowledged).toBeGreaterThan(times);
      },
      times * KILLS_TIMEOUT_MS,
    );
  });
}
