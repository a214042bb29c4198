/** Periods of a chain are read again only when the facts of that chain change. */
import { expect, it } from 'vitest';
import type { ApiContext } from '../api-context.ts';
import { createMemo } from './memo.ts';
import { periodsOf } from './periods.ts';
import { readServiceState, type StateRow } from './service-state.ts';
import type { Snapshot } from './snapshot.ts';

const row = (stage: string, chain: string, height: number): StateRow => ({
  generation: 1,
  version: '1',
  stage,
  chain,
  position: BigInt(height),
  height,
  hash: `${chain} ${height}`,
  clock: 100n,
  redrives: 0n,
});
const readAt = (...rows: StateRow[]) => {
  const state = readServiceState(rows, { release: '1', chains: new Set(['a', 'b']) });
  return { state } as unknown as Snapshot;
};

it('days of a chain are read once for each of its blocks, however prices and other chains move', async () => {
  let statements = 0;
  const clickhouse = {
    async rows() {
      statements += 1;
      return [];
    },
  };
  const api = { memo: createMemo(1_000_000), clickhouse } as unknown as ApiContext;
  for (const [read, wanted] of [
    [readAt(row('derive', 'a', 7), row('derive', 'b', 3)), 1],
    [readAt(row('derive', 'a', 7), row('derive', 'b', 3), row('price', 'a', 7)), 1],
    [readAt(row('derive', 'a', 7), row('derive', 'b', 4), row('price', 'a', 7), row('price_ahead', 'b', 4)), 1],
    [readAt(row('derive', 'a', 8), row('derive', 'b', 4), row('price', 'a', 7)), 2],
  ] as const) {
    await periodsOf(read, api, 'a', 'day');
    expect(statements).toBe(wanted);
  }
});
