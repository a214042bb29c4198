/** Launches under way: what has been preconverted so far, and how they end. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { NATIVE, type RunningService, startService, USDX } from './running-service.ts';
import type { LooseJson } from './truth.ts';

/** PureTri and failco are defined at 253, and start at 297; the last preconversions are gathered at 266 and 270. */
const START = 270;
const DECIDED = 299;
let service: RunningService;
const client = createClient(() => service.url);

beforeAll(async () => {
  service = await startService({ startHeight: START });
  await service.settled();
  // A definition may contain texts that Postgres can keep but not read.
  await service.stores.postgres.pool.query(
    `UPDATE currencies SET definition = replace(definition::text, '"name":', '"gatewayconvertername":"nul\\u0000","name":')::json`,
  );
}, 300_000);

afterAll(() => service?.stop());

const launched = async (launch: string) =>
  (await client.walk(`/api/currency/?type=basket&launch=${launch}`, 2)).map(({ name }) => name).sort();
const progress = async (name: string) => {
  const { launch }: LooseJson = await client.json(`/api/currency/${name}`);
  const preconverted = launch.preconversions.map(({ currencyId, amount, minimum }: LooseJson) => [
    currencyId,
    Number(amount),
    minimum && Number(minimum),
  ]);
  return { ...launch, preconversions: preconverted };
};
const FAILCO = [
  [NATIVE, 1720.29041985, 9_000_000],
  [USDX, 0, 1000],
];

it('shows a launch that is to come, and one that failed', async () => {
  expect(await launched('prelaunch')).toEqual(['Heavy', 'PureTri', 'failco']);
  expect(await launched('launched')).toEqual([]);
  const failco = { startBlock: 297, preconversions: FAILCO };
  expect(await progress('failco')).toEqual({ ...failco, status: 'prelaunch', blocksToStart: 297 - START });
  const pureTri = await progress('PureTri');
  expect(pureTri.preconversions.slice(0, 2)).toEqual([
    [NATIVE, 10_000, 100],
    [USDX, 10854.20209608, 100],
  ]);

  while (service.node.height < DECIDED) service.node.step();
  await service.settled();
  expect(await launched('refunding')).toEqual(['failco']);
  expect(await launched('launched')).toEqual(['Heavy', 'PureTri']);
  expect(await progress('failco')).toEqual({ ...failco, status: 'refunding', blocksToStart: null });
  expect(await progress('PureTri')).toEqual({ ...pureTri, status: 'launched', blocksToStart: null });
});
