/** Histories, balances, holders. */
import { describe, expect, it } from 'vitest';
import { SYSTEM_ADDRESSES } from '../../../domain/system-addresses.ts';
import type { TestClient } from '../client.ts';
import { NATIVE } from '../running-service.ts';
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

    it('folds the history that the daemon tells as deltas', async () => {
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

    it('holds what the daemon says each address holds', async () => {
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

    it('ranks the holders, each output of several people once', async () => {
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
