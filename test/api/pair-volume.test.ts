/** Volumes of pairs by day, of both chains of the pair and of either one. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import { createClient } from './client.ts';
import { type PairedService, SIDES, startPairedService } from './paired-service.ts';
import type { LooseJson } from './truth.ts';

const PATIENT = { timeout: 60_000, interval: 250 };
const DAYS = 31;

let service: PairedService;
const client = createClient(() => service.url);

beforeAll(async () => {
  service = await startPairedService();
  for (const side of SIDES) await service.go(side, service.tips[side]);
  await service.settled();
});
afterAll(() => service?.stop());

const path = (query: string) => `/api/market/pairs/volume?days=${DAYS}${query}`;
const volumes = (query: string): Promise<LooseJson[]> => client.json(path(query));
const provisionalSince = async (query: string) => (await client.raw(path(query))).headers.get('provisional-since');
const tradesOf = (rows: LooseJson[]) => rows.reduce((sum, { trades }) => sum + trades, 0);

it('volumes of a chain are those of its own baskets', async () => {
  await expect.poll(() => volumes('').then(tradesOf), PATIENT).toBe(3);
  const all = await volumes('');
  for (const side of SIDES) expect(await volumes(`&chain=${side}`)).toEqual(all.filter(({ chain }) => chain === side));
  expect(await volumes('&chain=pchain&basket=Bridge.pchain')).toEqual(all);
});

it('volumes of a chain are provisional from its own blocks on', async () => {
  await service.go('root', 300);
  await service.settled();
  const [last] = (await client.json('/api/blocks/?chain=root&pageSize=1')).results;
  const waiting = await client.walk('/api/blocks/?chain=pchain', 100);
  const first = waiting.findLast(({ time }) => time >= last.time);
  const since = new Date(first.time * 1000).toISOString();
  const shown = () => Promise.all(['', '&chain=root', '&chain=pchain'].map(provisionalSince));
  await expect.poll(shown, PATIENT).toEqual([since, null, since]);
});

it('volumes of a chain that stands still reach up to its own newest block', async () => {
  const { pool } = service.context.stores.postgres;
  const later = `UPDATE stage_positions SET clock = clock + $1 WHERE stage = 'derive' AND chain = 'root'`;
  await expect.poll(() => volumes('').then(tradesOf), PATIENT).toBe(3);
  const before = await volumes('&chain=pchain');
  await pool.query(later, [(DAYS + 2) * SECONDS_PER_DAY]);
  // Clocks are read again with the next block.
  await service.go('pchain', service.tips.pchain - 1);
  await service.settled();
  await expect.poll(() => volumes(''), PATIENT).toEqual([]);
  expect(await volumes('&chain=pchain')).toEqual(before);
});
