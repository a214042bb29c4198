/** Histories, balances, holders. */
import { describe, expect, it } from 'vitest';
import { SYSTEM_ADDRESSES } from '../../../domain/system-addresses.ts';
import type { TestClient } from '../client.ts';
import { ALICE, CHAIN, NATIVE } from '../running-service.ts';
import { amounts, blocks, type LooseJson, sat, tokens, truth } from '../truth.ts';

interface Net {
  readonly height: number;
  net: bigint;
  readonly tokens: Record<string, bigint>;
}

export function addressesConform(client: TestClient): void {
  describe('addresses', () => {
    const recorded: LooseJson[] = truth('address.json.gz');
    const balances: LooseJson = truth('richlist.json.gz').addressbalances;

    it('folds the history that the daemon reports as deltas', async () => {
      for (const { address, getaddressdeltas } of recorded) {
        const net = new Map<string, Net>();
        for (const delta of getaddressdeltas.filter(({ height }: LooseJson) => height > 0)) {
          const row: Net = net.get(delta.txid) ?? { height: delta.height, net: 0n, tokens: {} };
          row.net += BigInt(String(delta.satoshis));
          for (const [id, coins] of Object.entries(delta.currencyvalues ?? {})) {
            if (id !== NATIVE) row.tokens[id] = (row.tokens[id] ?? 0n) + BigInt(sat(coins as number));
          }
          net.set(delta.txid, row);
        }
        const rows = await client.walk(`/api/address/${address}`, 50);
        const found = new Map(rows.map((row) => [row.txid, row]));
        expect(rows.length, address).toBe(net.size);
        expect(rows.map((row) => row.height)).toEqual(rows.map((row) => row.height).sort((a, b) => b - a));
        for (const [txid, { height, net: sum, tokens: moved }] of net) {
          const row = found.get(txid);
          expect([row.height, sat(row.net)]).toEqual([height, sum.toString()]);
          const expected = Object.entries(moved).filter(([, value]) => value !== 0n);
          expect(amounts(row.currencies)).toEqual(
            Object.fromEntries(expected.map(([id, v]) => [id, v.toString()]).sort()),
          );
        }
      }
    });

    it('have the balances that the daemon reports', async () => {
      for (const [address, balance] of Object.entries<LooseJson>(balances)) {
        if (!/^[Ri]/.test(address)) continue;
        const row = await client.json(`/api/address/${address}/balance`);
        expect([address, sat(row.native), sat(row.received)]).toEqual([
          address,
          String(balance.balance),
          String(balance.received),
        ]);
        const held = Object.fromEntries(row.balances.map((entry: LooseJson) => [entry.currencyId, entry.balance]));
        expect(tokens(held)).toEqual(tokens(balance.currencybalance));
      }
    });

    const clocks: number[] = [];
    for (const { time } of blocks) clocks.push(Math.max(clocks.at(-1) ?? 0, Number(time)));
    /** Last block of each day, or month, by the clock. */
    const lastHeights = (length: number) =>
      new Map(clocks.map((clock, height) => [new Date(clock * 1000).toISOString().slice(0, length), height]));

    it('had at the end of each day the sum of the deltas of the daemon', async () => {
      const days = lastHeights('2026-11-19'.length);
      days.delete('2009-01-03'); // the genesis block is older than any answer reaches
      expect(days.size).toBeGreaterThan(1);
      for (const { address, getaddressdeltas } of recorded) {
        const deltas: LooseJson[] = getaddressdeltas.filter(({ height }: LooseJson) => height > 0);
        const held = new Set(deltas.flatMap(({ currencyvalues }) => Object.keys(currencyvalues ?? {})));
        for (const currency of new Set([NATIVE, ...held])) {
          const { data, currencyId } = await client.json(
            `/api/address/${address}/series?days=3650${currency === NATIVE ? '' : `&currency=${currency}`}`,
          );
          const expected = [...days].map(([date, height]) => {
            const moved = deltas
              .filter((delta) => delta.height <= height)
              .map(({ satoshis, currencyvalues }) =>
                currency === NATIVE ? BigInt(String(satoshis)) : BigInt(sat(currencyvalues?.[currency] ?? 0)),
              );
            return [date, height, String(moved.reduce((sum, delta) => sum + delta, 0n))];
          });
          expect(currencyId).toBe(currency);
          expect(data.map((row: LooseJson) => [row.date, row.height, sat(row.balance)])).toEqual(expected);
          const short = await client.json(`/api/address/${address}/series?days=1&currency=${currency}`);
          expect(short.data).toEqual(data.slice(-1));
        }
      }
    });

    it('sums rewards by month', async () => {
      const months = lastHeights('2026-11'.length);
      let rewarded = 0;
      for (const { address } of recorded) {
        const rows = await client.walk(`/api/address/${address}/rewards`, 100);
        const { data } = await client.json(`/api/address/${address}/rewards/months`);
        const sums = new Map<string, [bigint, number]>();
        for (const { height, type, amount } of rows) {
          const month = [...months].find(([, last]) => height <= last)?.[0];
          const [sum, count] = sums.get(`${month} ${type}`) ?? [0n, 0];
          sums.set(`${month} ${type}`, [sum + BigInt(sat(amount)), count + 1]);
        }
        const found = data.flatMap((row: LooseJson) =>
          ['mining', 'staking'].map((type) => [
            `${row.month} ${type}`,
            [BigInt(sat(row[type].total)), row[type].count],
          ]),
        );
        expect(new Map(found.filter(([, [, count]]: LooseJson) => count > 0))).toEqual(sums);
        rewarded += sums.size;
      }
      expect(rewarded).toBeGreaterThan(0);
    });

    it('are known on the chains that have a transaction of them', async () => {
      for (const { address } of recorded) {
        const rows = await client.walk(`/api/address/${address}`, 200);
        const { results } = await client.json(`/api/address/${address}/chains`);
        const [newest, oldest] = [rows[0], rows.at(-1)];
        const expected = { chain: CHAIN, address, firstHeight: oldest?.height, lastHeight: newest?.height };
        const places = results.map(({ name: _, lastTime: __, ...place }: LooseJson) => place);
        expect(places).toEqual(rows.length === 0 ? [] : [expected]);
        if (newest) expect(results[0].lastTime).toBe(newest.time);
      }
      const [known] = (await client.json('/api/address/alice@/chains')).results;
      expect([known.address, known.name]).toEqual([ALICE, 'alice.VRSCTEST']);
      expect((await client.json('/api/address/nobody-at-all@/chains')).results).toEqual([]);
    });

    it.each([
      ['nobody/series', 400],
      ['alice@/series?days=0', 400],
      ['alice@/series?days=3651', 400],
      ['alice@/series?currency=no%00', 400],
      ['alice@/series?currency=no-such', 404],
      ['a%00@/series', 400],
      ['nobody/rewards/months', 400],
      ['zs1abc/chains', 400],
    ])('refuses %s: %i', async (path, status) => {
      expect(await client.status(`/api/address/${path}`)).toBe(status);
    });

    it('ranks the holders, and counts an output of several owners once', async () => {
      const held = new Map<string, bigint>();
      const unspent = blocks.slice(1).flatMap(({ tx }) => tx.flatMap(({ vout }: LooseJson) => vout));
      for (const { spentHeight, valueSat, scriptPubKey } of unspent) {
        const owner = scriptPubKey.addresses?.find((address: string) => !SYSTEM_ADDRESSES.has(address));
        if (owner && !(spentHeight > 0)) held.set(owner, (held.get(owner) ?? 0n) + BigInt(String(valueSat)));
      }
      const order = ([a, x]: readonly [string, bigint], [b, y]: readonly [string, bigint]) =>
        x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1;
      const expected = [...held].filter(([, value]) => value > 0n).sort(order);
      for (const limit of [500, 10]) {
        const { results, more } = await client.json(`/api/richlist/top?limit=${limit}`);
        expect(more).toBe(results.length === limit);
        const found = results.map((row: LooseJson) => [row.address, BigInt(sat(row.balance))]);
        expect(found).toEqual(expected.slice(0, limit));
      }
      expect(expected.length).toBeGreaterThan(50);
      const shares = expected.filter(([address, value]) => BigInt(String(balances[address].balance)) !== value);
      expect(shares.length, 'holders whose balance counts more').toBeGreaterThan(0);
    });
  });
}
