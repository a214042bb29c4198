/** USD values of what was moved on two chains, at the end of each block, compared with the oracle at the same block. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseExact } from '../../domain/json/exact-json.ts';
import { PAIRED_CHAINS } from '../support/processors/chain-pair.ts';
import { createClient } from './client.ts';
import { type PairedService, type PairedSide, SIDES, startPairedService } from './paired-service.ts';
import type { LooseJson } from './truth.ts';

const PATIENT = { timeout: 60_000, interval: 250 };
const IDS = SIDES.map((side) => PAIRED_CHAINS[side].nativeCurrencyId);
/** After the bridge has launched, and before the price of pchain's coin changes for the first time. */
const ROOT_STANDS = 300;
/** Blocks of these steps are checked, and the newest blocks. */
const [STEP, NEWEST] = [20, 3];

let service: PairedService;
const client = createClient(() => service.url);

beforeAll(async () => {
  service = await startPairedService();
});
afterAll(() => service?.stop());

async function reach(side: PairedSide, height: number): Promise<void> {
  await service.go(side, height);
  await service.settled();
}

async function blocksOf(side: PairedSide): Promise<LooseJson[]> {
  const blocks = await client.walk(`/api/blocks/?chain=${side}`, 100);
  return blocks.filter(({ height }, index) => index < NEWEST || height % STEP === 0);
}

/** The oracle's prices in force, by currency: those that were stepped by the newest block of root at that time. */
async function oracleAt(query: string, step: number): Promise<Record<string, string>> {
  const answer = await client.raw(`/api/oracle/prices?ids=${IDS.join(',')}&${query}`);
  if (answer.status === 404) return {};
  const prices = parseExact(await answer.text()) as LooseJson[];
  const inForce = prices.filter(({ sourceBlock }) => sourceBlock === step);
  return Object.fromEntries(inForce.map(({ currencyId, usdPrice }) => [currencyId, String(usdPrice)]));
}

/** Prices of a block in its first transaction, which nearly always moves the coin of root, and always the chain's own. */
async function shownAt(side: PairedSide, height: number): Promise<LooseJson[]> {
  const { transactions } = await client.json(`/api/blocks/${height}?chain=${side}`);
  const { usdPrices } = await client.json(`/api/tx/${transactions[0].txid}?chain=${side}&usd=true`);
  return usdPrices.filter(({ currencyId }: LooseJson) => IDS.includes(currencyId));
}

/** Compares the prices; returns how often each rule was shown. */
async function compare(): Promise<Record<string, number>> {
  const root: LooseJson[] = await client.walk('/api/blocks/?chain=root', 100);
  const counts: Record<string, number> = {};
  for (const side of SIDES) {
    for (const { height, time } of await blocksOf(side)) {
      const step = root.find((block) => block.time <= time)?.height;
      const expected = await oracleAt(side === 'root' ? `height=${height}` : `time=${time}`, step);
      for (const { currencyId, usdPrice, rule } of await shownAt(side, height)) {
        const price = expected[currencyId];
        const wanted = price === undefined ? ['no_price', 'null'] : ['block_price', price];
        expect([side, height, rule, String(usdPrice)]).toEqual([side, height, ...wanted]);
        counts[`${side} ${rule}`] = (counts[`${side} ${rule}`] ?? 0) + 1;
      }
    }
  }
  return counts;
}

const arePriced = async () => {
  const tips = await Promise.all(
    SIDES.map(async (side) =>
      shownAt(side, (await client.json(`/api/blocks/?chain=${side}&pageSize=1`)).results[0].height),
    ),
  );
  return tips.flat().map(({ rule }) => rule);
};
const isPriced = expect.not.arrayContaining(['not_priced_yet']);

it('prices of the complete blocks of both chains, and of those that no other chain has passed', async () => {
  await reach('root', ROOT_STANDS);
  await reach('pchain', service.tips.pchain);
  await expect.poll(arePriced, PATIENT).toEqual(isPriced);
  const standing = await compare();
  await reach('root', service.tips.root);
  await expect.poll(arePriced, PATIENT).toEqual(isPriced);
  const complete = await compare();
  for (const counts of [standing, complete]) {
    expect(Object.keys(counts).sort()).toEqual(
      SIDES.flatMap((side) => [`${side} block_price`, `${side} no_price`]).sort(),
    );
    expect(counts['pchain block_price']).toBeGreaterThan(10);
  }
});

it.each(SIDES)('prices in the activity of an address of %s, REST and JSON-RPC', async (chain) => {
  const { results } = await client.json(`/api/richlist/top?chain=${chain}`);
  let priced = 0;
  for (const { address } of results.slice(0, 5)) {
    const rows = await client.walk(`/api/address/${address}?chain=${chain}&usd=true`, 200);
    const body = JSON.stringify({ id: 1, method: 'gettxhistoryrich', params: [{ address, pageSize: 100 }] });
    const answer = parseExact(await (await client.raw(`/rpc/${chain}`, { method: 'POST', body })).text()) as LooseJson;
    for (const { txid, height, usdPrices, usdValue } of rows) {
      const { usdPrices: prices } = await client.json(`/api/tx/${txid}?chain=${chain}&usd=true`);
      for (const price of usdPrices) expect(prices, `${txid} at ${height}`).toContainEqual(price);
      const rules = usdPrices.map(({ rule }: LooseJson) => rule);
      expect(usdValue !== null).toBe(rules.includes('block_price'));
      priced += usdValue === null ? 0 : 1;
      const rich = answer.result.find((row: LooseJson) => row.txid === txid);
      expect(rich.amounts.map(({ usdRuleThen }: LooseJson) => usdRuleThen)).toEqual(rules);
      const sum = rich.amounts.reduce(
        (worth: number, { usdValueThen }: LooseJson) => worth + Number(usdValueThen ?? 0),
        0,
      );
      expect(sum).toBeCloseTo(Number(usdValue ?? 0), 6);
    }
  }
  if (chain === 'pchain') expect(priced).toBeGreaterThan(2);
});
