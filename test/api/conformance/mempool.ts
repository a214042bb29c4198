/** The recorded mempool: the recording contains one of its four transactions, and none of its conversions. */
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { blocks, type LooseJson, tip } from '../truth.ts';

const WAITING = '9b0d613ed4b5ab8c3e0d47921fe8c4a8782d02679ea722cc2252a58d7cae9935';
const BOB = 'i3bCS2hfQXktHXHmXEAxKPeby5cb6Px6Le';

export function mempoolConforms(client: TestClient): void {
  describe('the mempool', () => {
    it('shows the transactions that can be read, and reports that there are more', async () => {
      await expect.poll(async () => (await client.json('/api/mempool/')).total).toBe(1);
      const { results, ...status } = await client.json('/api/mempool/');
      expect(status).toMatchObject({ waiting: 1, listed: 4, truncated: true, page: 1, totalPages: 1 });
      expect(results[0]).toMatchObject({ txid: WAITING, type: 'identity_update', identityCount: 1 });
      expect(results[0].identities[0]).toMatchObject({ identityAddress: BOB, kind: 'content_updated' });
      expect((await client.json('/api/mempool/?page=2')).results).toEqual([]);
    });

    it('has no conversions, and estimates those that wait for their import', async () => {
      expect((await client.json('/api/mempool/conversions')).results).toEqual([]);
      const pending = await client.json('/api/conversions/?status=pending&pageSize=200');
      const direct = pending.results.filter(({ type }: LooseJson) => type === 'convert' || type === 'via');
      const { results, block, isEstimate } = await client.json('/api/mempool/estimates?pageSize=200');
      expect([isEstimate, block]).toEqual([true, { height: tip, hash: blocks[tip].hash }]);
      const keys = (rows: LooseJson[]) => rows.map(({ txid, vout }) => `${txid}:${vout}`).sort();
      expect(keys(results)).toEqual(keys(direct));
      for (const { status, estimatedOut } of results) {
        expect([status, estimatedOut === null || Number(estimatedOut) > 0]).toEqual(['pending', true]);
      }
      const [first] = results;
      const own = await client.json(`/api/mempool/estimates?txid=${first.txid}&basket=${first.basketId}`);
      expect(own.results).toContainEqual(first);
    });

    it.each([
      ['/api/mempool/conversions?basket=nosuch', 404, 'not_found'],
      ['/api/mempool/conversions?address=nosuch', 400, 'invalid_parameter'],
      ['/api/mempool/?page=0', 400, 'invalid_parameter'],
      ['/api/mempool/estimates?txid=xyz', 400, 'invalid_parameter'],
      [`/api/tx/${'0'.repeat(64)}?unconfirmed=true`, 404, 'not_found'],
      [`/api/tx/${WAITING}`, 404, 'not_found'],
      [`/api/tx/${WAITING}?unconfirmed=perhaps`, 400, 'invalid_parameter'],
    ])('%s: %i %s', async (path, status, code) => {
      const answer = await client.raw(path);
      expect([answer.status, ((await answer.json()) as LooseJson).code]).toEqual([status, code]);
    });
  });
}
