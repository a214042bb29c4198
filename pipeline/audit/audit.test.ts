import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordedFile } from '../../test/laws/chain-records.ts';
import type { AuditResult } from './audit.ts';
import { type AuditedWorld, createAuditedWorld } from './testing/audited-world.ts';

let world: AuditedWorld;

beforeAll(async () => {
  world = await createAuditedWorld([{ name: 'vrsc', records: recordedFile('blocks.jsonl.gz') }]);
  await world.fold();
}, 300_000);
afterAll(() => world.close());

const faults = (results: readonly AuditResult[]) =>
  results.flatMap((result) => {
    if (result.kind === 'table') return result.partsAt === null ? [] : [`${result.table} ${result.partsAt}`];
    return result.violation ? [`${result.invariant} ${result.violation.height} ${JSON.stringify(result.violation)}`] : [];
  });

describe('audit', () => {
  it('finds nothing', async () => {
    const began = performance.now();
    const results = await world.audit();
    console.log(performance.now() - began, results);
    expect(faults(results)).toEqual([]);
  });
});
