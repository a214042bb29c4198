/** The service's own loop that updates the data set, and the answers for a network that has used up its allowance. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { lockFolder } from '../../pipeline/datasets/folder-lock.ts';
import { keepDatasets } from '../../pipeline/datasets/keep-datasets.ts';
import { checkFolder, readManifest } from '../support/datasets/check-folder.ts';
import { type ExportedService, startExportedService } from './exported-service.ts';

/** A pass pauses three times as long as it writes, and a busy machine writes slowly. */
const PASS_MS = 150_000;

let service: ExportedService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

const reached = async (folder: string): Promise<number> =>
  (await readManifest(folder, 'blocks')).reduce((height, { toHeight }) => Math.max(height, toHeight), -1);

it('follows the chain pass by pass, does not touch a folder that another process writes, and ends with its signal', async () => {
  service = await startExportedService({ startHeight: 700 });
  const { folder, node, stores, context, settled } = service;
  await settled(true);
  const stop = new AbortController();
  const { chains } = context.config;
  const logger = pino({ level: 'silent' });
  const lock = lockFolder(folder);
  const kept = keepDatasets({ stores, chains, folder, refreshSeconds: 0.2, logger, signal: stop.signal });
  await sleep(1_000);
  expect(await reached(folder)).toBe(-1); // another process holds the lock
  lock?.release();
  await expect.poll(() => reached(folder), { timeout: PASS_MS }).toBe(700);
  node.advanceTo(720);
  await settled(true);
  await expect.poll(() => reached(folder), { timeout: PASS_MS }).toBe(720);
  expect(await checkFolder(folder)).toBeGreaterThan(5);
  stop.abort();
  await kept;
  const free = lockFolder(folder);
  expect(free).not.toBeNull();
  free?.release();
}, 400_000);

it('a network that has used up its allowance gets the time of a retry; the bucket answers SlowDown', async () => {
  service = await startExportedService({ startHeight: 300, datasets: { bytesPerHour: 40_000 } });
  await service.settled(true);
  await service.exported();
  const url = `${service.url}/api/datasets/blocks.json`;
  let refused: Response | undefined;
  for (let asked = 0; asked < 200 && !refused; asked++) {
    const answer = await fetch(url);
    await (answer.ok ? answer.arrayBuffer() : Promise.resolve());
    if (!answer.ok) refused = answer;
  }
  expect(refused?.status).toBe(429);
  const problem = (await refused?.json()) as { code: string; retryAfter: number };
  expect(problem).toMatchObject({ code: 'bandwidth_used' });
  expect(refused?.headers.get('retry-after')).toBe(String(problem.retryAfter));
  expect(problem.retryAfter).toBeGreaterThan(0);
  const bucket = await fetch(`${service.url}/datasets/blocks.json`);
  expect(bucket.status).toBe(429);
  expect(await bucket.text()).toContain('<Code>SlowDown</Code>');
  // Other paths do not use this allowance.
  expect((await fetch(`${service.url}/api/blocks/?pageSize=1`)).status).toBe(200);
});
