import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordedFile } from '../../test/laws/chain-records.ts';
import { type AuditedWorld, createAuditedWorld } from '../../test/support/pipeline/audit/audited-world.ts';
import { type RowDamage, type Store, TAMPERED } from '../../test/support/pipeline/audit/tampering.ts';
import type { AuditProgress, AuditResult } from './audit.ts';
import { FACT_TABLES } from './audited-facts.ts';
import { STAMP_TABLES } from './audited-tables.ts';

const TIP = 800;

let world: AuditedWorld;

beforeAll(async () => {
  world = await createAuditedWorld([{ name: 'vrsc', records: recordedFile('blocks.jsonl.gz').slice(0, TIP + 1) }]);
  await world.fold();
}, 300_000);
afterAll(() => world.close());

/** Returns the height of the first difference by table. */
function parted(results: readonly AuditResult[]): Record<string, number> {
  const tables = results.filter((result) => result.kind === 'table');
  return Object.fromEntries(tables.flatMap(({ table, partsAt }) => (partsAt === null ? [] : [[table, partsAt]])));
}

describe('audit', () => {
  it('finds the stores equal and every invariant kept, whatever the rows', async () => {
    const results = await world.audit();
    expect(parted(results)).toEqual({});
    for (const result of results) {
      if (result.kind === 'table') expect(result).toMatchObject({ height: TIP, rows: expect.any(Number) });
      else expect(result).toMatchObject({ height: TIP, violation: null });
    }
    const empty = results.filter((result) => result.kind === 'table' && result.rows === 0);
    expect(empty).toEqual([]);
    const tables = [...FACT_TABLES, ...STAMP_TABLES].map(({ name }) => name);
    expect(TAMPERED.map(({ table }) => table).sort()).toEqual(tables.sort());
  });

  it('reports its progress after each range, to the end of both ledgers', async () => {
    const seen: AuditProgress[] = [];
    await world.audit((progress) => seen.push(progress));
    for (const ledger of ['facts', 'stamps']) {
      const own = seen.filter((progress) => progress.ledger === ledger);
      expect(own.at(-1)).toMatchObject({ chain: 'vrsc', height: TIP, targetHeight: TIP, etaSeconds: 0 });
      const heights = own.map(({ height }) => height ?? -1);
      expect(heights).toEqual([...new Set(heights)].sort((a, b) => a - b));
    }
  });

  it('names table and first height of any row that is changed, deleted or added in either store', async () => {
    // Each damaged row is below the previous ones, so that it is the first difference of its table.
    const below = new Map<string, number>();
    let damaged = 0;
    for (const damage of ['changed', 'deleted', 'added'] satisfies RowDamage[]) {
      for (const store of ['postgres', 'clickhouse'] satisfies Store[]) {
        const expected: Record<string, number> = {};
        for (const tampered of TAMPERED) {
          const { table } = tampered;
          const rows = table === 'stakes' ? 'blocks' : table;
          const height = await tampered[store](world.stores, damage, below.get(rows) ?? TIP);
          if (height === null) continue;
          damaged++;
          below.set(rows, height);
          expected[table] = height;
        }
        expect({ damage, store, ...parted(await world.audit()) }).toMatchObject({ damage, store, ...expected });
      }
    }
    expect(damaged).toBe(3 * 2 * TAMPERED.length - 2); // there is no room for another block or stake in Postgres
  });
});
