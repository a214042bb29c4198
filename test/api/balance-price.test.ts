/** Balances and holders at a block whose next block has no later time are valued at the block's own price. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PAIRED_CHAINS } from '../support/processors/chain-pair.ts';
import { createClient } from './client.ts';
import { type PairedService, SIDES, startPairedService } from './paired-service.ts';
import type { LooseJson } from './truth.ts';

const PATIENT = { timeout: 60_000, interval: 250 };
const PCHAIN = PAIRED_CHAINS.pchain.nativeCurrencyId;
/** A block of pchain whose import changes the price of pchain's coin. */
const CHANGES = 148;

let service: PairedService;
const client = createClient(() => service.url);

beforeAll(async () => {
  service = await startPairedService({
    change: {
      height: CHANGES,
      by(block) {
        block.time -= 3600;
      },
    },
  });
  for (const side of SIDES) await service.go(side, service.tips[side]);
  await service.settled();
});
afterAll(() => service?.stop());

/** Price of pchain's coin in a transaction of the block. */
async function priceAt(height: number): Promise<number> {
  const { transactions } = await client.json(`/api/blocks/${height}?chain=pchain`);
  const { usdPrices } = await client.json(`/api/tx/${transactions[0].txid}?chain=pchain&usd=true`);
  return Number(usdPrices.find(({ currencyId }: LooseJson) => currencyId === PCHAIN).usdPrice ?? 0);
}

it('values are at the price of the block, not of the next one', async () => {
  const [before, after] = [CHANGES - 1, CHANGES];
  await expect.poll(() => priceAt(service.tips.pchain), PATIENT).toBeGreaterThan(1);
  expect(await priceAt(before)).not.toBe(await priceAt(after));
  for (const height of [before, after]) {
    const price = await priceAt(height);
    const at = `chain=pchain&height=${height}`;
    const { results } = await client.json(`/api/currency/pchain/holders?${at}`);
    for (const { address, balance, usdValue } of results.slice(0, 3)) {
      expect([height, Number(usdValue) / Number(balance)]).toEqual([height, expect.closeTo(price, 6)]);
      const { balances } = await client.json(`/api/address/${address}/balance?${at}`);
      const own = balances.find(({ currencyId }: LooseJson) => currencyId === PCHAIN);
      expect([height, Number(own.usdValue) / Number(own.balance)]).toEqual([height, expect.closeTo(price, 6)]);
    }
    expect(results.length).toBeGreaterThan(2);
  }
});
