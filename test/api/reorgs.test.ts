/** The recorded reorganisation in lists and blocks, compared with what the daemon reported of both branches. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordedBranches } from '../laws/chain-records.ts';
import { createClient } from './client.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import { blocks, type LooseJson } from './truth.ts';

const { main, orphans, fork } = recordedBranches();
const client = createClient(() => service.url);
let service: RunningService;
let before: LooseJson;

const placeOf = ({ height, hash, time }: LooseJson) => ({ height, hash, time });

beforeAll(async () => {
  service = await startService({ startHeight: fork - 2 });
  await service.settled();
  while (service.node.hash !== orphans.at(-1)?.hash) service.node.step();
  await service.settled();
  before = await client.json(`/api/blocks/${orphans[0]?.hash}`);
  while (service.node.height <= fork + orphans.length) service.node.step();
  await service.settled();
}, 300_000);

afterAll(() => service?.stop());

describe('reorganisations', () => {
  const removed = orphans.map(placeOf);
  const won = main.slice(fork + 1, fork + 1 + orphans.length).map(placeOf);
  const expected = {
    chain: CHAIN,
    forkHeight: fork,
    forkHash: main[fork]?.hash,
    depth: orphans.length,
    seenAt: won[0]?.time,
    reason: 'reorg',
  };

  it('are listed with both branches', async () => {
    const { results, total } = await client.json('/api/reorgs/');
    const replacedBy = won.map((block) => ({ ...block, canonical: true }));
    expect({ results, total }).toEqual({ results: [{ ...expected, removed, replacedBy }], total: 1 });
  });

  it('leave removed blocks readable by their hash, unchanged', async () => {
    expect(before).toMatchObject({ canonical: true, removal: null });
    for (const [index, orphan] of removed.entries()) {
      const block = await client.json(`/api/blocks/${orphan.hash.toUpperCase()}`);
      const { chain: _, ...removal } = expected;
      expect(block).toMatchObject({ ...orphan, confirmations: -1, canonical: false });
      expect(block.removal).toEqual({ ...removal, replacedBy: won[index] });
      expect(block.nextHash).toBe(removed[index + 1]?.hash ?? null);
      expect(block.previousHash).toBe(removed[index - 1]?.hash ?? expected.forkHash);
    }
    const after = await client.json(`/api/blocks/${before.hash}`);
    const { confirmations: _, finalizedHeight: _f, canonical: __, removal: ___, ...told } = before;
    expect(after).toMatchObject(told);
    expect(after.transactions.length).toBeGreaterThan(0);
  });

  it('leave the blocks that won readable by their hash and their height', async () => {
    for (const { height, hash } of won) {
      const block = await client.json(`/api/blocks/${hash}`);
      expect(block).toMatchObject({ height, hash, canonical: true, removal: null });
      expect(await client.json(`/api/blocks/${height}`)).toEqual(block);
      expect(block.transactions).toHaveLength(blocks[height].tx.length);
    }
  });
});

it.each([
  [`/api/blocks/${'0'.repeat(64)}`, 404, 'not_found'],
  [`/api/blocks/${'0'.repeat(63)}`, 400, 'invalid_parameter'],
  [`/api/blocks/${'g'.repeat(64)}`, 400, 'invalid_parameter'],
  ['/api/blocks/2147483648', 400, 'invalid_parameter'],
  ['/api/blocks/5%00', 400, 'invalid_parameter'],
  ['/api/blocks/?validationType=both', 400, 'invalid_parameter'],
  ['/api/reorgs/?chain=nope', 400, 'invalid_parameter'],
  ['/api/reorgs/?cursor=x', 400, 'cursor_invalid'],
])('%s: %i %s', async (path, status, code) => {
  const answer = await client.raw(path);
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ code });
});
