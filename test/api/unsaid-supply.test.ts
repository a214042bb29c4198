/** A supply that only the daemon knows, while it is silent: missing for now, and back once the daemon answers, without a new block. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Faults } from '../../recordings/player/faults.ts';
import { recordReaderStatements } from './reader-statements.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const PATIENT = { timeout: 60_000, interval: 250 };
const SILENT: Faults = { closeRate: 1, methods: ['coinsupply'] };

let service: RunningService;
beforeAll(async () => {
  service = await startService();
  await service.settled(true);
  // Like rows of an older version: the index does not know the supply.
  await service.stores.postgres.pool.query('UPDATE blocks SET shielded_supply = NULL');
});
afterAll(() => service?.stop());

async function ask(path: string) {
  const answer = await fetch(`${service.url}${path}`);
  const { headers, status } = answer;
  return {
    status,
    etag: headers.get('ETag'),
    cached: headers.get('Cache-Control'),
    body: (await answer.json()) as LooseJson,
  };
}

const PARTIAL = [
  [`/api/richlist/top?chain=${CHAIN}`, ({ results }: LooseJson) => results[0].percent],
  ['/api/currency/VRSCTEST/holders', ({ results }: LooseJson) => results[0].percent],
  ['/api/currency/VRSCTEST', ({ supply }: LooseJson) => supply],
] as const;
const WHOLE = ['/api/currency/VRSCTEST/supply', '/api/tickers/supply/VRSCTEST'];

it('the supply is requested again, and no cache keeps the answer without it', async () => {
  service.node.setFaults(SILENT);
  for (const [path, figure] of PARTIAL) {
    const { status, etag, cached, body } = await ask(path);
    expect([path, status, etag, cached, figure(body)]).toEqual([path, 200, null, 'no-store', null]);
  }
  const sent = recordReaderStatements();
  const [[rich]] = PARTIAL;
  for (const query of ['', '&limit=1', '&limit=500']) expect((await ask(`${rich}${query}`)).etag).toBeNull();
  const ofHolders = sent.take().filter(({ text }) => text.includes('newest_balances'));
  expect(ofHolders.length).toBeLessThan(3); // one more at most, if the state has moved meanwhile
  sent.stop();
  for (const path of WHOLE) {
    const { status, body } = await ask(path);
    expect([path, status, body.code]).toEqual([path, 502, 'daemon_error']);
  }
  service.node.setFaults({});
  for (const [path, figure] of PARTIAL) {
    await expect.poll(async () => figure((await ask(path)).body), PATIENT).toEqual(expect.any(Number));
    const { status, etag, cached } = await ask(path);
    expect([path, status, etag, cached]).toEqual([path, 200, expect.any(String), 'public, no-cache']);
  }
  for (const path of WHOLE) await expect.poll(async () => (await ask(path)).status, PATIENT).toBe(200);
});
