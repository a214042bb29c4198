/** While stages crash and rewind at any moment, the audit reports nothing and keeps the same digests as in a straight run. */
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { AuditReport } from '../../schemas/audit-report.ts';
import { crashes } from '../../test/laws/arbitraries.ts';
import { recordedFile, type UnplacedRecord, wanderings } from '../../test/laws/chain-records.ts';
import { deriveWithCrashes, type PlannedCrash, SimulatedCrash } from '../../test/laws/replay.ts';
import { type AuditedWorld, createAuditedWorld } from '../../test/support/pipeline/audit/audited-world.ts';
import { crashingClickHouse } from '../../test/support/pipeline/price/price-world.ts';
import { runAudit } from './run-audit.ts';

/** Up to this block there are two launches, several baskets, conversions and identities. */
const TIP = 520;
const RUNS = Number(process.env.LAWS_RUNS ?? 1);
const main = recordedFile('blocks.jsonl.gz').slice(0, TIP + 1);

const worlds: AuditedWorld[] = [];
let straight: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  straight = await history([{ records: main, planned: [], priceCrash: null }]);
}, 300_000);
afterAll(async () => {
  for (const world of worlds) await world.close();
});

interface Part {
  readonly records: readonly UnplacedRecord[];
  readonly planned: readonly PlannedCrash[];
  /** Number of the ClickHouse statement at which pricing crashes. */
  readonly priceCrash: number | null;
}

/** Returns everything that the audit has kept at the end, and the errors that it logged on the way. */
async function history(parts: readonly Part[]): Promise<Readonly<Record<string, unknown>>> {
  const world = await createAuditedWorld([{ name: 'vrsc', records: [] }]);
  worlds.push(world);
  const { stores, log } = world;
  const complaints: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void complaints.push(line) });
  const end = new AbortController();
  const auditing = runAudit({ stores, chains: world.chains, logger, signal: end.signal, restMs: 1 });
  for (const { records, planned, priceCrash } of parts) {
    await log.append('vrsc', records);
    await deriveWithCrashes('vrsc', { log, stores, batch: { maxBlocks: 60 } }, planned);
    if (priceCrash !== null) {
      await world.price(dyingAt(stores.clickhouse, priceCrash)).catch((error: unknown) => {
        if (!(error instanceof SimulatedCrash)) throw error;
      });
    }
    await world.price();
  }
  await world.own(end.signal);
  const report = await untilAudited(world);
  end.abort();
  await auditing;
  const { rows: facts } = await stores.postgres.pool.query('SELECT height, digest FROM fact_digests ORDER BY height');
  const { rows: stamps } = await stores.postgres.pool.query(
    `SELECT height, digest FROM stamp_digests JOIN (
       SELECT DISTINCT height FROM stamps JOIN price_ticks USING (tick)
     ) AS stamped USING (height) ORDER BY height`,
  );
  return {
    complaints,
    state: report.state,
    mismatch: report.lastMismatch,
    violation: report.lastViolation,
    facts,
    stamps,
  };
}

async function untilAudited({ stores }: AuditedWorld): Promise<AuditReport> {
  for (const began = Date.now(); Date.now() - began < 120_000; ) {
    const { rows } = await stores.postgres.pool.query<{ report: string }>('SELECT report FROM audits');
    const report = rows[0] && (JSON.parse(rows[0].report) as AuditReport);
    if (report?.checkedHeight === TIP && report.stampsCheckedHeight === TIP) return report;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the audit never came to the end');
}

function dyingAt(clickhouse: ClickHouse, statement: number): ClickHouse {
  let left = statement;
  return crashingClickHouse(clickhouse, () => {
    if (--left === 0) throw new SimulatedCrash('before or after a statement');
  });
}

const turn = fc.record({ at: fc.integer({ min: 310, max: TIP }), back: fc.integer({ min: 1, max: 100 }) });

it('finds nothing wrong in a straight run', () => {
  expect(straight).toMatchObject({ complaints: [], state: 'equal', mismatch: null, violation: null });
  expect(straight.facts).toHaveLength(TIP + 1);
  expect((straight.stamps as unknown[]).length).toBeGreaterThan(10);
});

it('reports nothing while stages crash and rewind, and ends with the same digests', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 2, maxLength: 4 }),
      fc.array(fc.tuple(crashes(2), fc.option(fc.integer({ min: 1, max: 8 }))), { minLength: 5, maxLength: 5 }),
      async (turns, accidents) => {
        const happened = wanderings(main, turns);
        const length = Math.ceil(happened.length / accidents.length);
        const parts = accidents.map(([planned, priceCrash], index) => {
          return { records: happened.slice(index * length, (index + 1) * length), planned, priceCrash };
        });
        expect(await history(parts)).toEqual(straight);
      },
    ),
    { numRuns: RUNS, endOnFailure: process.env.LAWS_RUNS === undefined },
  );
}, 600_000);
