/** A chart of counts shows its whole period, also if nothing was counted at the beginning. */
import { expect, it } from 'vitest';
import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import type { StateCall } from '../../http/route.ts';
import { chartRoutes } from './chart-routes.ts';

const [charts] = chartRoutes;

interface Point {
  readonly timestamp: number;
  readonly value: unknown;
}

const DAY = 20_000;
const at = (day: number) => day * SECONDS_PER_DAY;

/** The chain has blocks from day `begin` to `DAY`, and three registrations two days before the last one. */
async function daysOf(period: string, begin: number): Promise<readonly (readonly [number, unknown])[]> {
  const clickhouse = {
    async rows(_reader: unknown, sql: string, { since }: { since: number }) {
      if (sql.includes('min(time)')) return [{ timestamp: Math.max(since, at(begin)) }];
      return [{ timestamp: at(DAY - 2), value: '3' }];
    },
  };
  const tip = { position: 9, height: 9, hash: 'aa', clock: at(DAY) + 5 };
  const state = { derived: new Map([['a', tip]]), generation: 1, leftOut: [] };
  const call = {
    params: { chain: 'a', metric: 'identities', period, step: 'day' },
    read: { state, rows: async () => [], row: async () => undefined },
    api: { clickhouse, config: { marks: [] } },
  } as unknown as StateCall;
  const answer = (await charts?.handler(call)) as { readonly data: readonly Point[] } | undefined;
  return (answer?.data ?? []).map(({ timestamp, value }) => [timestamp / SECONDS_PER_DAY, value]);
}

it('begins with the period, or with the first block if that is later', async () => {
  const quiet = [6, 5, 4, 3].map((before) => [DAY - before, 0]);
  const later = [
    [DAY - 2, 3],
    [DAY - 1, 0],
    [DAY, 0],
  ];
  expect(await daysOf('7d', 0)).toEqual([...quiet, ...later]);
  expect(await daysOf('7d', DAY - 4)).toEqual([...quiet.slice(2), ...later]);
  expect(await daysOf('all', 0)).toEqual(later);
});
