/** The extension methods of JSON-RPC, compared with the answers of the daemon's own methods. */
import { describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from '../../../domain/json/exact-json.ts';
import type { TestClient } from '../client.ts';
import { NATIVE, USDX } from '../running-service.ts';
import { type LooseJson, sat, tip, tokens, truth } from '../truth.ts';

export function jsonRpcConforms(client: TestClient): void {
  const call = async (method: string, ...params: unknown[]): Promise<LooseJson> => {
    const answer = await client.raw('/', { method: 'POST', body: JSON.stringify({ id: 1, method, params }) });
    return parseExact(await answer.text());
  };
  const result = async (method: string, ...params: unknown[]): Promise<LooseJson> => {
    const { result: value, error } = await call(method, ...params);
    expect(error, `${method} ${JSON.stringify(params)}`).toBeNull();
    return value;
  };
  const codeOf = async (method: string, ...params: unknown[]) => (await call(method, ...params)).error?.code;

  describe('JSON-RPC extensions', () => {
    const recorded: LooseJson[] = truth('address.json.gz');
    const identities: LooseJson[] = truth('identities.json.gz');

    it('getbalanceall: the balances that the daemon reports', async () => {
      const balances: LooseJson = truth('richlist.json.gz').addressbalances;
      const asked = Object.keys(balances).filter((address) => /^[Ri]/.test(address));
      for (const address of asked) {
        const row = await result('getbalanceall', address);
        const held = Object.fromEntries(row.balances.map((entry: LooseJson) => [entry.currencyId, entry.balance]));
        expect([row.address, row.height, sat(held[NATIVE] ?? 0)]).toEqual([
          address,
          tip,
          String(balances[address].balance),
        ]);
        expect(tokens(held)).toEqual(tokens(balances[address].currencybalance));
        for (const entry of row.balances) expect(entry.balanceSat).toBe(sat(entry.balance));
      }
      const { balances: none } = await result('getbalanceall', 'nobody@');
      expect(none).toEqual([expect.objectContaining({ currencyId: NATIVE, balanceSat: '0' })]);
      const [first, second] = asked.filter((address) => balances[address].balance > 0);
      const both = await result('getbalanceall', { addresses: [first, second, first] });
      const native = both.balances.find((entry: LooseJson) => entry.currencyId === NATIVE);
      const sum = BigInt(balances[first ?? ''].balance) + BigInt(balances[second ?? ''].balance);
      expect([both.addresses, native.balanceSat, native.currencyName]).toEqual([
        [first, second],
        String(sum),
        'VRSCTEST',
      ]);
      expect(await result('getbalanceall', 'alice@')).toEqual(
        await result('getbalanceall', { addresses: ['i5f5njYtso65186mo5WHMkRme9YG6hrZE2'] }),
      );
    });

    it('gettxhistoryrich: the deltas of the daemon, with heights and directions', async () => {
      for (const { address, getaddressdeltas } of recorded) {
        const net = new Map<string, bigint>();
        const heights = new Map<string, number>();
        for (const { txid, satoshis, height, currencyvalues } of getaddressdeltas) {
          if (height === 0) continue;
          heights.set(txid, height);
          const book = (id: string, value: bigint) =>
            net.set(`${txid} ${id}`, (net.get(`${txid} ${id}`) ?? 0n) + value);
          book(NATIVE, BigInt(String(satoshis)));
          for (const [id, coins] of Object.entries<LooseJson>(currencyvalues ?? {})) {
            if (id !== NATIVE) book(id, BigInt(sat(coins)));
          }
        }
        const rows: LooseJson[] = [];
        for (let page = 1; rows.length % 200 === 0 && rows.length === (page - 1) * 200; page++) {
          const more = await result('gettxhistoryrich', address, page, 500);
          rows.push(...more);
          if (more.length === 0) break;
        }
        const found = rows.flatMap((row) =>
          row.amounts.map((entry: LooseJson) => [`${row.txid} ${entry.currencyId}`, BigInt(sat(entry.amount))]),
        );
        expect(new Map(found)).toEqual(new Map([...net].filter(([, value]) => value !== 0n)));
        expect(rows.map((row) => row.height)).toEqual([...heights.values()].sort((a, b) => b - a));
        const middle = rows[Math.floor(rows.length / 2)]?.height ?? 1;
        const range = await result('gettxhistoryrich', { address, from: middle, to: middle, pageSize: 200 });
        expect(range).toEqual(rows.filter((row) => row.height === middle).slice(0, 200));
        expect(await result('gettxhistoryrich', { address, from: 99_999_999 })).toEqual([]);
      }
    });

    it('gettxhistoryrich: direction and counterparties of every transaction, from both sides', async () => {
      const rows: LooseJson[] = [];
      for (const { address } of recorded) {
        for (const row of await result('gettxhistoryrich', address, 1, 200)) rows.push({ ...row, address });
      }
      const known = new Map(rows.map((row) => [`${row.txid} ${row.address}`, row]));
      let checked = 0;
      for (const row of rows) {
        expect(row.counterparties).not.toContain(row.address);
        const signs = new Set(row.amounts.map((entry: LooseJson) => sat(entry.amount).startsWith('-')));
        const direction = signs.size === 2 ? 'both' : signs.has(true) ? 'out' : signs.has(false) ? 'in' : 'self';
        expect(row.direction).toBe(direction);
        for (const other of row.counterparties) {
          const theirs = known.get(`${row.txid} ${other}`);
          if (row.direction !== 'out' || theirs?.direction !== 'in') continue;
          expect(theirs.counterparties).toContain(row.address);
          checked++;
        }
      }
      expect(checked).toBeGreaterThan(20);
    });

    it('getsubidentities: by the parent in every recorded identity', async () => {
      const parents = new Map<string, LooseJson[]>();
      for (const { id, latest } of identities) {
        const { parent } = latest.identity;
        parents.set(parent, [...(parents.get(parent) ?? []), { id, ...latest }]);
      }
      for (const [parent, children] of parents) {
        const answer = await result('getsubidentities', parent, 1, 200);
        expect([answer.parentId, answer.count]).toEqual([parent, children.length]);
        const shown = (row: LooseJson) => [row.identityAddress, row.name, row.height, row.txid, row.flags];
        const expected = children.map(({ id, identity, blockheight, txid }) => [
          id,
          identity.name,
          blockheight,
          txid,
          identity.flags,
        ]);
        expect(answer.identities.map(shown).sort()).toEqual(expected.sort());
        const paged: LooseJson[] = [];
        for (let page = 1; paged.length < children.length; page++) {
          paged.push(...(await result('getsubidentities', { nameOrId: parent, page, pageSize: 3 })).identities);
        }
        expect(paged).toEqual(answer.identities);
      }
      expect(await result('getsubidentities', 'alice@', 1, 5)).toMatchObject({ parent: 'alice.VRSCTEST' });
    });

    it('getoptimalroute: only what a basket converts', async () => {
      expect(await codeOf('getoptimalroute', 'VRSCTEST', 'tok', 1)).toBe(-8);
      expect(await codeOf('getoptimalroute', 'VRSCTEST', 'VRSCTEST', 1)).toBe(-8);
      expect(await codeOf('getoptimalroute', 'VRSCTEST', 'no such currency', 1)).toBe(-8);
      for (const amount of [0, -1, 'x', null, 1e300, '1e999999999', '0.000000001']) {
        expect([amount, await codeOf('getoptimalroute', 'VRSCTEST', USDX, amount)]).toEqual([amount, -3]);
      }
    });

    it('answers the examples of docs/json-rpc.md', async () => {
      const alice = 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2';
      const asked: readonly (readonly [string, ...unknown[]])[] = [
        ['getbalanceall', 'alice@'],
        ['gettxhistoryrich', alice, 1, 1],
        ['getsubidentities', 'club@', 1, 2],
        ['getidentityhistory', 'alice@', 265, 268],
        ['getbridgetransfers', { limit: 2 }],
        ['getoptimalroute', 'VRSCTEST', 'tok', 10],
      ];
      const examples: Record<string, { params: string; answer: string }> = {};
      for (const [method, ...params] of asked) {
        const { result: value, error } = await call(method, ...params);
        examples[method] = { params: JSON.stringify(params), answer: stringifyExact(error ?? value) };
      }
      const file = '../../test/support/api/rpc/extension-examples.json';
      await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot(file);
    });

    it('refuses with the error codes of the daemon', async () => {
      const wrong: readonly (readonly [number, string, ...unknown[]])[] = [
        [-1, 'getbalanceall'],
        [-1, 'getbalanceall', 'alice@', 1],
        [-1, 'getbalanceall', 5],
        [-5, 'getbalanceall', 'nonsense'],
        [-5, 'getbalanceall', { addresses: ['nonsense'] }],
        [-8, 'getbalanceall', { address: 'alice@', nonsense: 1 }],
        [-8, 'getbalanceall', { addresses: [] }],
        [-1, 'getbalanceall', {}],
        [-1, 'gettxhistoryrich'],
        [-5, 'gettxhistoryrich', 'nonsense'],
        [-8, 'gettxhistoryrich', 'alice@', 0],
        [-1, 'gettxhistoryrich', 'alice@', 'x'],
        [-8, 'gettxhistoryrich', 'alice@', 51, 200],
        [-8, 'gettxhistoryrich', { address: 'alice@', from: 9, to: 8 }],
        [-1, 'getsubidentities'],
        [-5, 'getsubidentities', 'nosuchidentity@'],
        [-1, 'getoptimalroute', 'VRSCTEST', 'usdx'],
      ];
      for (const [code, method, ...params] of wrong) {
        expect([method, params, await codeOf(method, ...params)]).toEqual([method, params, code]);
      }
    });
  });
}
