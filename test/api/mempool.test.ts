/** What waits in the mempool of the recorded node, over HTTP, while its blocks come, are taken back and come again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

let service: RunningService;
const START = 830;
const FORK = 845;

beforeAll(async () => {
  service = await startService({ startHeight: START });
  await service.settled();
}, 300_000);

afterAll(() => service?.stop());

async function get(path: string): Promise<LooseJson> {
  return (await fetch(`${service.url}${path}`)).json();
}

async function ofDaemon(method: string, ...params: unknown[]): Promise<LooseJson> {
  const { origin, username, password } = new URL(service.node.url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const body = JSON.stringify({ id: 1, method, params });
  const answer = await fetch(origin, { method: 'POST', headers: { authorization }, body });
  return ((await answer.json()) as LooseJson).result;
}

/** Until what is served is what the daemon holds, at its block. */
async function shown(): Promise<LooseJson> {
  await service.settled();
  for (let tries = 0; ; tries += 1) {
    const listed: string[] = await ofDaemon('getrawmempool');
    const answer = await get('/api/mempool/?pageSize=200');
    const txids = answer.results?.map(({ txid }: LooseJson) => txid);
    const same = txids && new Set(txids).size === listed.length && listed.every((txid) => txids.includes(txid));
    if (same || tries === 200) {
      expect([...(txids ?? [])].sort()).toEqual([...listed].sort());
      return answer;
    }
    await sleep(50);
  }
}

describe('GET /api/mempool/', () => {
  it('shows what the daemon holds, block by block, over a reorganisation', async () => {
    let most = 0;
    while (service.node.height < FORK + 12) {
      const answer = await shown();
      most = Math.max(most, answer.total);
      expect(answer).toMatchObject({ chain: CHAIN, truncated: false, waiting: answer.total, listed: answer.total });
      service.node.step();
    }
    expect(most).toBeGreaterThan(0);
  });
});
