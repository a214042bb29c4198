/** Transfers between two chains, as the API joins them, compared with what the daemons report, whichever chain is ahead. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExact } from '../../domain/json/exact-json.ts';
import { PAIRED_CHAINS } from '../support/processors/chain-pair.ts';
import { createClient } from './client.ts';
import { type PairedService, type PairedSide, startPairedService } from './paired-service.ts';
import { type LooseJson, sat, truth } from './truth.ts';

const ROOT = PAIRED_CHAINS.root.nativeCurrencyId;
const PCHAIN = PAIRED_CHAINS.pchain.nativeCurrencyId;
const BRIDGE = 'iJgtXDdhGvFKR6Bpu9pAqgQd1oxRm7REZk';
const EXPORT = 'e6a75c8989e9ef97d52ff66651552936c8e9a265739897ae89e5e0f3fcbfae06';
const IMPORT = 'ed2c15e83f69084cdddcf1fa86565819faeeb73aa53da2c4b41571517f4d10be';
/** Heights of the sends on root, and of their import on pchain. */
const SENT = 319;
const ARRIVED = 267;

/** Stamps follow when both chains have passed them. */
const PATIENT = { timeout: 60_000, interval: 250 };

let service: PairedService;
const client = createClient(() => service.url);
const sends: LooseJson[] = truth('../../pbaas/pchain/transfers.json').filter(
  ({ chain }: LooseJson) => chain === 'root',
);
const sentFrom: LooseJson[] = truth('../../pbaas/pchain/transfers.json').filter(
  ({ chain }: LooseJson) => chain === 'pchain',
);

beforeAll(async () => {
  service = await startPairedService();
});
afterAll(() => service?.stop());

async function reach(heights: Partial<Record<PairedSide, number>>): Promise<void> {
  for (const [side, height] of Object.entries(heights)) await service.go(side as PairedSide, height);
  await service.settled();
}

const bridge = (query: string): Promise<LooseJson[]> => client.walk(`/api/bridge/recent?${query}`, 3);
const conversions = (query: string): Promise<LooseJson[]> => client.walk(`/api/conversions/?${query}`, 2);
const ofSends = (rows: LooseJson[]) =>
  sends.map(({ txid }) => rows.find((row) => row.txid === txid && row.vout === 0)).filter(Boolean);

async function rpc(chain: PairedSide, method: string, ...params: unknown[]): Promise<LooseJson> {
  const answer = await client.raw(`/rpc/${chain}`, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) });
  return parseExact(await answer.text());
}

async function stampsOfImport(): Promise<unknown> {
  const { data } = await client.json(`/api/oracle/conversions/${IMPORT}`);
  return data.map(({ rule, provisional }: LooseJson) => [rule, provisional]);
}

/** Everything that depends on either chain: what is stored, and what is answered. */
async function everything(): Promise<LooseJson> {
  const lists = await Promise.all(
    (['root', 'pchain'] as const).map(async (side) => [
      await bridge(`chain=${side}`),
      await conversions(`chain=${side}`),
      (await rpc(side, 'getbridgetransfers', { limit: 100 })).result,
    ]),
  );
  const digests = [await service.digests('root'), await service.digests('pchain')];
  const valuations = sends.slice(1).map(({ txid }) => client.json(`/api/oracle/conversions/${txid}`));
  return [digests, lists, await Promise.all(valuations), await client.json(`/api/oracle/conversions/${IMPORT}`)];
}

describe('two chains', () => {
  let complete: LooseJson;

  it('with the sending chain alone, transfers are exported and pending, and no import is known', async () => {
    await reach({ root: service.tips.root, pchain: ARRIVED - 1 });
    const rows = ofSends(await bridge('chain=root'));
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      expect(row).toMatchObject({
        direction: 'out',
        status: 'pending',
        systemId: PCHAIN,
        systemChain: 'pchain',
        height: SENT,
        exportTxid: EXPORT,
        importTxid: null,
        amountOut: null,
        exportTo: PCHAIN,
      });
    }
    const pending = ofSends(await conversions('chain=root&status=pending'));
    expect(pending.map(({ type }) => type)).toEqual(['convert', 'via']);
    for (const row of pending) expect(row).toMatchObject({ importChain: null, usdValue: null, latencySeconds: null });
  });

  it('prices of the chain that is ahead are shown as provisional up to its tip', async () => {
    const price = async () => (await client.json('/api/oracle/prices/pchain')).currentPrice;
    await expect.poll(price, PATIENT).toMatchObject({
      sourceBlock: service.tips.root,
      provisional: true,
      waitsFor: 'pchain',
    });
    const { count, data } = await client.json('/api/oracle/prices/pchain/history');
    expect(count).toBeGreaterThan(0);
    expect(data[0].blockHeight).toBeLessThan(service.tips.root);
  });

  it('with both chains, every send is joined with what the daemon saw arrive', async () => {
    await reach({ pchain: service.tips.pchain });
    await expect.poll(stampsOfImport, PATIENT).toEqual(Array(2).fill(['stable_in', false]));
    complete = await everything();
    const out = ofSends(await bridge('chain=root'));
    const into = ofSends(await bridge('chain=pchain'));
    expect([out.length, into.length]).toEqual([3, 3]);
    const exported = await client.json(`/api/tx/${EXPORT}?chain=root`);
    for (const row of [...out, ...into]) {
      expect([row.exportHeight, row.exportTime]).toEqual([exported.height, exported.time]);
    }
    for (const [index, { txid, outs, deltas_on_pchain: deltas }] of sends.entries()) {
      const [delta] = deltas;
      const row = out[index];
      const paid = row.toCurrencyId === PCHAIN ? String(delta.satoshis) : sat(delta.currencyvalues[row.toCurrencyId]);
      expect([row.txid, sat(row.amount), sat(row.amountOut)]).toEqual([txid, sat(outs[0].amount), paid]);
      expect(row).toMatchObject({
        status: 'completed',
        recipient: delta.address,
        importTxid: delta.txid,
        importChain: 'pchain',
        importHeight: delta.height,
        importTime: delta.blocktime,
        latencyBlocks: null,
        latencySeconds: delta.blocktime - row.time,
        reason: null,
      });
      expect(row.sender).toMatch(/^R/);
      // The other chain reports the same transfer, from its own blocks.
      const {
        chain: _,
        direction,
        systemId,
        systemName,
        systemChain,
        height,
        time,
        exportTo: __,
        exportToName,
        ...same
      } = into[index];
      expect([direction, systemId, systemName, systemChain, exportToName]).toEqual([
        'in',
        ROOT,
        'VRSCTEST',
        'root',
        null,
      ]);
      expect([height, time]).toEqual([delta.height, delta.blocktime]);
      expect(row).toMatchObject(same);
    }
  });

  it('conversions are settled on the chain of the request too, with price, value and stamp of the chain that executed them', async () => {
    const rows = ofSends(await conversions('chain=root&status=completed'));
    expect(rows.map((row) => [row.type, row.importChain, row.importTxid])).toEqual([
      ['convert', 'pchain', IMPORT],
      ['via', 'pchain', IMPORT],
    ]);
    for (const row of rows) {
      expect(Number(row.price)).toBeCloseTo(Number(row.amountOut) / Number(row.amountIn), 10);
      expect([row.rule, sat(row.usdValue)]).toEqual(['stable_in', sat(row.amountIn)]);
      const { data } = await client.json(`/api/oracle/conversions/${row.txid}`);
      expect(data).toMatchObject([
        { chain: 'root', importChain: 'pchain', priceHeight: ARRIVED, usdValue: row.usdValue },
      ]);
      const sent = await client.json(`/api/tx/${row.txid}?chain=root`);
      expect(sent.conversions).toEqual([row]);
    }
    expect(await conversions('chain=root&status=pending')).toEqual([]);
    const imported = await client.json(`/api/tx/${IMPORT}?chain=pchain`);
    expect(imported.conversions.map((row: LooseJson) => [row.txid, row.sourceSystemId, row.sourceChain])).toEqual(
      rows.map((row) => [row.txid, ROOT, 'root']),
    );
    // The sender is unknown to the chain that executes them, but they are listed as conversions of the sender there, too.
    for (const [index, { source }] of rows.entries()) {
      const path = `/api/address/${source}/conversions?chain=pchain`;
      const ofSource = await client.walk(path, 2);
      expect(ofSource).toContainEqual(imported.conversions[index]);
      const all = await conversions('chain=pchain');
      expect(ofSource).toEqual(all.filter((row) => row.source === source || row.destination === source));
      expect((await client.json(path)).total).toBe(ofSource.length);
    }
    // The definition's own contribution to its converter is not a send across chains, but its import is on the other chain as well.
    const [contribution] = (await conversions('chain=root')).filter(({ type }) => type === 'preconvert');
    expect(contribution).toMatchObject({
      status: 'completed',
      toCurrencyId: BRIDGE,
      importChain: 'pchain',
      importHeight: 2,
    });
  });

  it('a volume counts each conversion once, on the chain that executed it', async () => {
    const volumes: Record<string, number> = {};
    for (const chain of ['root', 'pchain'] as const) {
      const trades = (await conversions(`chain=${chain}&status=completed`)).filter(({ type }) =>
        ['convert', 'via'].includes(type),
      );
      const executed = trades.filter(({ importChain }) => importChain === chain);
      if (chain === 'root') expect(trades.length).toBeGreaterThan(executed.length);
      const { count, volume } = await client.json(`/api/conversions/summary?chain=${chain}`);
      expect(count).toBe((await conversions(`chain=${chain}`)).length);
      volumes[chain] = Number(String(volume));
      expect(volumes[chain]).toBeCloseTo(
        executed.reduce((sum, { usdValue }) => sum + Number(String(usdValue ?? 0)), 0),
        6,
      );
    }
    expect(volumes.pchain).toBeGreaterThan(0);
    const months: LooseJson[] = await client.json('/api/market/volume?period=monthly');
    expect((volumes.root ?? 0) + (volumes.pchain ?? 0)).toBeCloseTo(
      months.reduce((sum, { volume }) => sum + Number(String(volume)), 0),
      6,
    );
  });

  it('a next leg forwards the payout, and stays pending if the other chain does not import it', async () => {
    const rows = await conversions('chain=pchain');
    const [via] = rows.filter(({ sourceSystemId, type }) => sourceSystemId === null && type === 'via');
    expect(via).toMatchObject({
      txid: sentFrom[1].txid,
      status: 'completed',
      latencyBlocks: 2,
      exportTo: ROOT,
      exportToName: 'VRSCTEST',
      nextLegVout: 3,
    });
    const legs = await bridge('chain=pchain&direction=out');
    expect(legs.map(({ txid, vout }) => [txid, vout])).toEqual([
      [via.nextLegTxid, 2],
      [via.nextLegTxid, 3],
    ]);
    expect(sat(legs[1].amount)).toBe(sat(via.amountOut));
    for (const [index, leg] of legs.entries()) {
      expect(leg).toMatchObject({ status: 'pending', systemChain: 'root', amountOut: null, importTxid: null });
      expect(leg.recipient).toBe(sentFrom[index].outs[0].address);
      // The import made this output, so its sender is the sender of the leg before it.
      const asked = await client.json(`/api/tx/${sentFrom[index].txid}?chain=pchain`);
      expect([leg.sender]).toEqual(asked.inputs[0].addresses);
    }
  });

  it('filters by direction and address, in REST and in JSON-RPC', async () => {
    const all = await bridge('chain=pchain');
    expect(all.map(({ direction }) => direction).sort()).toEqual(['in', 'in', 'in', 'out', 'out']); // not the contribution to the launch
    expect(await bridge('chain=pchain&direction=in')).toEqual(all.filter(({ direction }) => direction === 'in'));
    const [first] = all;
    for (const address of [first.recipient, first.sender]) {
      const wanted = all.filter((row) => row.recipient === address || row.sender === address);
      expect(await bridge(`chain=pchain&address=${address}`)).toEqual(wanted);
      expect((await rpc('pchain', 'getbridgetransfers', { address })).result).toEqual(wanted);
    }
    expect((await rpc('pchain', 'getbridgetransfers', { limit: 2, direction: 'in' })).result).toEqual(
      all.filter(({ direction }) => direction === 'in').slice(0, 2),
    );
    expect((await rpc('pchain', 'getbridgetransfers')).result).toEqual(all);
    for (const params of [{ direction: 'up' }, { limit: 0 }, { nonsense: 1 }]) {
      expect([params, (await rpc('pchain', 'getbridgetransfers', params)).error?.code]).toEqual([params, -8]);
    }
  });

  it('with the receiving chain ahead, incoming transfers are known by their export', async () => {
    await reach({ root: SENT - 1 });
    const into = (await bridge('chain=pchain&direction=in')).filter(({ importTxid }) => importTxid === IMPORT);
    expect(into.map(({ txid, vout, exportTxid }) => [txid, vout, exportTxid])).toEqual(
      Array(3).fill([null, null, EXPORT]),
    );
    for (const row of into) {
      expect(row).toMatchObject({ status: 'completed', sender: null, latencySeconds: null, systemChain: 'root' });
    }
    expect(await bridge('chain=root')).toEqual([]);
    expect(await client.status(`/api/oracle/conversions/${sends[1].txid}`)).toBe(404);
    await expect.poll(stampsOfImport, PATIENT).toEqual(Array(2).fill(['stable_in', true]));
  });

  it('the answers are the same in every order', async () => {
    await reach({ root: service.tips.root });
    await expect.poll(everything, PATIENT).toEqual(complete);
    // A rewind of the importing chain reverts only the imports.
    await reach({ pchain: ARRIVED - 1 });
    expect(ofSends(await bridge('chain=root')).map(({ status }) => status)).toEqual(Array(3).fill('pending'));
    await reach({ pchain: service.tips.pchain });
    await expect.poll(everything, PATIENT).toEqual(complete);
    // Both from the first blocks, the receiving chain first.
    await reach({ root: 100, pchain: 0 });
    await reach({ pchain: service.tips.pchain });
    await reach({ root: service.tips.root });
    await expect.poll(everything, PATIENT).toEqual(complete);
  });

  it('the answers are the same when blocks of both chains are interleaved', async () => {
    await reach({ root: 130, pchain: 0 });
    const { root, pchain } = service.tips;
    for (let step = 1; step <= 10; step++) {
      await service.go('root', 130 + Math.floor(((root - 130) * step) / 10));
      await service.go('pchain', Math.floor((pchain * step) / 10));
    }
    await service.settled();
    await expect.poll(everything, PATIENT).toEqual(complete);
  });
});
