/** Counts, charts, stakes, search, and the shape of all the rest. */
import { describe, expect, it } from 'vitest';
import { routeTable } from '../../../api/rest/route-table.ts';
import { seenRoutes, type TestClient } from '../client.ts';
import { USDX } from '../running-service.ts';
import { blocks, type LooseJson, sat, tip, truth } from '../truth.ts';

export function statisticsConform(client: TestClient): void {
  describe('statistics and search', () => {
    it('counts what the recording contains', async () => {
      const transactions = blocks.reduce((sum, block) => sum + block.tx.length, 0);
      expect(await client.json('/api/stats/')).toMatchObject({
        height: tip,
        indexedHeight: tip,
        transactions,
        synced: true,
      });
      const { data } = await client.json('/api/stats/charts?metric=transactions&period=all');
      expect(data.reduce((sum: number, point: LooseJson) => sum + point.value, 0)).toBe(transactions);
      const converted = await client.json('/api/stats/charts?metric=conversions&period=all');
      let completed = 0;
      for (const type of ['convert', 'via']) {
        completed += (await client.json(`/api/conversions/?status=completed&type=${type}&pageSize=1`)).total;
      }
      expect(converted.data.reduce((sum: number, point: LooseJson) => sum + point.value, 0)).toBe(completed);
      expect(converted.data.at(-1).date).toBe(data.at(-1).date);
      const network = await client.json('/api/stats/network');
      const staked = blocks.slice(-1000).filter((block) => block.validationtype === 'stake').length;
      expect(Number(network.posRatio)).toBe(staked / 1000);
      expect(Number(network.avgBlockTime)).toBe((blocks[tip].time - blocks[tip - 100].time) / 100);
      expect(sat(network.circulatingSupply)).toBe(sat(truth('supply.json').coinsupply.total));
      const pulse = await client.json('/api/stats/pulse');
      expect(pulse.blocks.map((block: LooseJson) => block.height)).toEqual(
        Array.from({ length: 20 }, (_, n) => tip - n),
      );
      expect(pulse.newest).toEqual({ vrsc: pulse.blocks.slice(0, 7) });
      expect(await client.json('/api/stats/status')).toMatchObject({ verusd: { chainHeight: tip } });
      expect(await client.json('/api/identity/stats')).toMatchObject({ chains: { vrsc: { revoked: 1 } } });
    });

    it('charts the blocks of each hour', async () => {
      const valuesOf = async (metric: string): Promise<Map<number, number>> => {
        const { data } = await client.json(`/api/stats/charts?metric=${metric}&period=7d&step=hour`);
        return new Map(data.map(({ timestamp, value }: LooseJson) => [timestamp, Number(String(value))]));
      };
      const hours = new Map<number, LooseJson[]>();
      for (const block of blocks.slice(1)) {
        const hour = block.time - (block.time % 3600);
        hours.set(hour, [...(hours.get(hour) ?? []), block]);
      }
      const [works, stakes, spans] = [
        await valuesOf('hashrate'),
        await valuesOf('stakingSupply'),
        await valuesOf('blockTime'),
      ];
      const [stakers, fees, identities] = [
        await valuesOf('stakers'),
        await valuesOf('fees'),
        await valuesOf('identities'),
      ];
      let before: LooseJson = blocks[0];
      for (const [hour, own] of hours) {
        const last = own.at(-1);
        const count = last.height - before.height;
        const [gained, won] = ['chainwork', 'chainstake'].map((of) =>
          Number(BigInt(`0x${last[of]}`) - BigInt(`0x${before[of]}`)),
        );
        expect(works.get(hour)).toBe(Math.floor((gained ?? 0) / (last.time - before.time)));
        expect(stakes.get(hour)).toBeCloseTo((won ?? 0) / count / 1e8, 7);
        expect(spans.get(hour)).toBe((last.time - before.time) / count);
        expect(stakers.get(hour) ?? 0).toBe(new Set(own.flatMap(({ postxddest }) => postxddest ?? [])).size);
        before = last;
      }
      expect([works.size, hours.size > 10]).toEqual([hours.size, true]);
      const sum = (of: Map<number, number>) => [...of.values()].reduce((total, value) => total + value, 0);
      let paid = 0;
      for (const { height } of blocks) paid += Number(String((await client.once(`/api/blocks/${height}`)).fees));
      expect(sum(fees)).toBeCloseTo(paid, 7);
      expect(sum(identities)).toBe((await client.json('/api/identity/?pageSize=1')).total);
      // Nobody registers an identity in the first hour, but the chart of the week begins with it.
      expect([...identities][0]).toEqual([[...hours.keys()][0], 0]);
      expect([...identities.keys()]).toEqual([...stakers.keys()]);
      const { data } = await client.json('/api/stats/charts?metric=stakers&chain=all');
      expect(data).toEqual((await client.json('/api/stats/charts?metric=stakers')).data);
    });

    it.each([
      ['metric=fees&chain=all', 'fees is of one chain; of all chains are transactions'],
      ['metric=fees&step=hour&period=1y', 'hours of 1y are too many'],
      ['metric=price', 'metric must be one of difficulty'],
      ['metric=fees&chain=none', 'chain must be one of vrsc, all'],
    ])('refuses a chart of %s', async (query, detail) => {
      const given = await client.raw(`/api/stats/charts?${query}`);
      expect(await given.json()).toMatchObject({ code: 'invalid_parameter', detail: expect.stringContaining(detail) });
    });

    it('shows the chain at any height', async () => {
      const { coinsupply_100, coinsupply_775, coinsupply_1550 } = truth('supply.json');
      for (const recorded of [coinsupply_100, coinsupply_775, coinsupply_1550]) {
        const at = await client.json(`/api/stats/network/${recorded.height}`);
        const block = blocks[recorded.height];
        expect([sat(at.transparentSupply), sat(at.shieldedSupply)]).toEqual([
          sat(recorded.supply),
          sat(recorded.zfunds),
        ]);
        expect([at.chainWork, at.chainStake, at.hash]).toEqual([block.chainwork, block.chainstake, block.hash]);
        const window = blocks.slice(Math.max(0, recorded.height - 999), recorded.height + 1);
        const staked = window.filter(({ validationtype }) => validationtype === 'stake').length;
        expect(Number(at.posRatio)).toBeCloseTo(staked / window.length, 8);
      }
      const { hashRate } = await client.json(`/api/stats/network/${tip}`);
      await expect.poll(async () => (await client.json('/api/stats/network')).hashRate).toEqual(hashRate);
      expect(await client.status(`/api/stats/network/${tip + 1}`)).toBe(404);
    });

    it('lists every stake', async () => {
      const wanted = blocks.filter((block) => block.validationtype === 'stake').reverse();
      const rows = await client.walk('/api/stakes/', 100);
      expect(rows.map((row) => [row.height, row.txid, row.address, row.stakeTxid, row.stakeVout])).toEqual(
        wanted.map((block) => [
          block.height,
          block.tx.at(-1).txid,
          block.postxddest,
          block.possourcetxid,
          block.possourcevoutnum,
        ]),
      );
    });

    it('lists the stakes of each address, with the names of stakers', async () => {
      const all = await client.walk('/api/stakes/', 100);
      const stakers = new Set(all.map(({ address }) => address));
      expect(stakers.size).toBeGreaterThan(1);
      for (const staker of stakers) {
        const rows = await client.walk(`/api/stakes/?address=${staker}`, 100);
        expect(rows).toEqual(all.filter(({ address }) => address === staker));
        const { total } = await client.json(`/api/stakes/?address=${staker}`);
        expect(total).toBe(rows.length);
      }
      const recorded: LooseJson[] = truth('identities.json.gz');
      const names = new Map(recorded.map(({ id, latest }) => [id, latest.fullyqualifiedname.replace(/@$/, '')]));
      expect(all.some(({ address }) => names.has(address))).toBe(true);
      for (const { address, name, rewardAddress, rewardName } of all) {
        expect([name, rewardName]).toEqual([names.get(address) ?? null, names.get(rewardAddress) ?? null]);
      }
      expect(await client.status('/api/stakes/?address=nobody')).toBe(400);
      expect(await client.status('/api/stakes/?address=a%00@')).toBe(400);
    });

    it.each([
      ['500', ['block']],
      [blocks[500].hash, ['block']],
      [blocks[500].tx[0].txid, ['tx']],
      ['RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V', ['address']],
      ['bob@', ['identity']],
      ['PureTri', ['identity', 'basket']],
      ['usdx', ['identity', 'currency']],
      ['nothing like it', []],
    ])('finds %s', async (query, types) => {
      const { results } = await client.json(`/api/search/?q=${encodeURIComponent(query)}`);
      expect(results.map((result: LooseJson) => result.type)).toEqual(types);
      for (const { url } of results) expect(await client.status(url)).toBe(200);
    });

    it('answers the rest of the table in the shape that it documents', async () => {
      const address = 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V';
      const paths = [
        '/api/',
        '/api/errors',
        '/api/health',
        '/api/health/ready',
        '/api/oracle/prices',
        `/api/oracle/prices/${USDX}`,
      ];
      paths.push(`/api/oracle/prices/${USDX}/history`, '/api/conversions/filters', `/api/address/${address}/rewards`);
      paths.push('/api/bridge/recent', '/api/reorgs/'); // empty here: see chain-pair.test.ts and reorgs.test.ts
      for (const path of [...paths, `/api/address/${address}/conversions`]) await client.json(path);
      const elsewhere = /^\/api\/(auth|keys|usage|webhooks|datasets)/; // in access.test.ts, webhooks.test.ts and test/datasets
      const untested = routeTable.filter(({ path, produces }) => produces === undefined && !seenRoutes.has(path));
      expect(untested.map(({ path }) => path).filter((path) => !elsewhere.test(path))).toEqual([]);
    });
  });
}
