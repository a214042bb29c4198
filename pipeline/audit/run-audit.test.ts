import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registry } from '../../infra/metrics.ts';
import type { AuditReport } from '../../schemas/audit-report.ts';
import { recordedFile } from '../../test/laws/chain-records.ts';
import { type AuditedWorld, createAuditedWorld } from '../../test/support/pipeline/audit/audited-world.ts';
import { type RowDamage, type Store, TAMPERED } from '../../test/support/pipeline/audit/tampering.ts';
import { runAudit } from './run-audit.ts';

const TIP = 700;

let world: AuditedWorld;
let logged: string[] = [];
const end = new AbortController();
let running: Promise<unknown>;

beforeAll(async () => {
  world = await createAuditedWorld([{ name: 'vrsc', records: recordedFile('blocks.jsonl.gz').slice(0, TIP + 1) }]);
  await world.fold();
  await world.own(end.signal);
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  running = runAudit({ stores: world.stores, chains: world.chains, logger, signal: end.signal, restMs: 20 });
}, 300_000);

afterAll(async () => {
  end.abort();
  await running;
  await world.close();
});

/** Returns the first report within a minute for which `holds` is true. */
async function reported(holds: (report: AuditReport) => boolean): Promise<AuditReport> {
  for (const began = Date.now(); Date.now() - began < 60_000; ) {
    const { rows } = await world.stores.postgres.pool.query<{ report: string }>('SELECT report FROM audits');
    const report = rows[0] && (JSON.parse(rows[0].report) as AuditReport);
    if (report && holds(report)) return report;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the audit never said so');
}

/** The metric line of this audit; other checks and other chains have their own. */
const mismatches = async () =>
  (await registry.metrics())
    .split('\n')
    .find((line) => line.startsWith('verustream_digest_mismatches{chain="vrsc",check="audit"}'));

it('keeps a digest of every height', async () => {
  const report = await reported(
    ({ checkedHeight, stampsCheckedHeight }) => checkedHeight === TIP && stampsCheckedHeight === TIP,
  );
  expect(report).toMatchObject({
    state: 'equal',
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    lastMismatch: null,
    lastViolation: null,
  });
  const { rows } = await world.stores.postgres.pool.query('SELECT count(*)::int AS digests FROM fact_digests');
  expect(rows).toEqual([{ digests: TIP + 1 }]);
});

const ROUNDS: readonly (readonly [Store, RowDamage, string])[] = [
  ['clickhouse', 'changed', 'transactions'],
  ['postgres', 'deleted', 'native deltas'],
  ['clickhouse', 'added', 'currency states'],
  ['postgres', 'changed', 'stamped conversions'],
];

it('reports tampering with checked rows in the status, the metric and the log', async () => {
  let below = TIP;
  for (const [store, damage, table] of ROUNDS) {
    logged = [];
    const height = await TAMPERED.find((tampered) => tampered.table === table)?.[store](world.stores, damage, below);
    if (!height) throw new TypeError(`nothing in ${table} below ${below}`);
    below = height;
    const report = await reported(({ lastMismatch }) => lastMismatch?.height === height);
    expect(report).toMatchObject({ state: 'differs', lastMismatch: { table, height, lasts: true } });
    const checked = table === 'stamped conversions' ? report.stampsCheckedHeight : report.checkedHeight;
    expect(checked).toBeLessThan(height);
    expect(await mismatches()).toMatch(/ 1$/);
    const lines = logged.map((line) => JSON.parse(line) as object);
    expect(lines).toContainEqual(expect.objectContaining({ level: 50, chain: 'vrsc', table, height }));
  }
});

it('reports the repair of a difference', async () => {
  const { clickhouse } = world.stores;
  const set = (fees: string) => clickhouse.command(`ALTER TABLE blocks UPDATE fees = ${fees} WHERE height = 5`);
  await set('fees + 1');
  await reported(({ lastMismatch }) => lastMismatch?.height === 5);
  await set('fees - 1');
  // The next difference is one of the earlier rounds.
  const { lastMismatch } = await reported((report) => report.lastMismatch?.height !== 5);
  expect(lastMismatch?.height).toBeGreaterThan(5);
});
