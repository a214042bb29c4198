/** Conversions across two chains, as the views of either chain show them. */
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type PairedService, type PairedSide, SIDES } from '../../api/paired-service.ts';
import { checkView } from '../generic-check.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

interface Row {
  readonly txid: string;
  readonly vout: number;
  readonly importTxid: string | null;
  readonly sourceSystemId: string | null;
  readonly nextLegTxid: string | null;
}

export function viewsOfTwoChains(opened: () => Opened, paired: () => PairedService): void {
  describe('views of two chains', () => {
    let service: PairedService;
    let browser: Browser;

    beforeAll(async () => {
      service = paired();
      browser = opened().browser;
      for (const side of SIDES) await service.go(side, service.tips[side]);
      await service.settled();
      await vi.waitFor(async () => expect(await unpriced()).toEqual([]), { timeout: 60_000, interval: 250 });
    });

    /** Conversions that have no final price yet; prices follow once both chains have passed them. */
    async function unpriced(): Promise<readonly string[]> {
      const waiting: string[] = [];
      for (const side of SIDES) {
        for (const { txid } of await conversionsOf(side)) {
          const answer = await fetch(`${service.url}/api/oracle/conversions/${txid}`);
          const { data } = (await answer.json()) as {
            data: readonly { reason: string | null; provisional: boolean }[];
          };
          if (data.some((row) => row.reason === 'not_priced_yet' || row.provisional)) waiting.push(txid);
        }
      }
      return waiting;
    }

    async function conversionsOf(side: PairedSide): Promise<readonly Row[]> {
      const answer = await fetch(`${service.url}/api/conversions/?chain=${side}&pageSize=200`);
      return ((await answer.json()) as { results: readonly Row[] }).results;
    }

    it('show each conversion on the chain of its request and on the chain that executed it', async () => {
      const { page, complaints, close } = await openPage(browser);
      const stages = new Set<string>();
      for (const side of SIDES) {
        const results = await conversionsOf(side);
        expect(results.length).toBeGreaterThan(1);
        for (const { txid, vout, importTxid, sourceSystemId, nextLegTxid } of results) {
          const query = sourceSystemId === null ? '' : `?in=${importTxid}`;
          const { pointers } = await checkView(
            page,
            service.url,
            `/${side}/conversion/${txid}/${vout}${query}`,
            'conversion',
          );
          for (const required of [/\/conversions\/\d+\/importTxid$/, /\/data\/\d+\/usdValue$/]) {
            expect(
              [...pointers].some((pointer) => required.test(pointer)),
              String(required),
            ).toBe(true);
          }
          const way = await page
            .locator('[data-testid=flow] > [data-stage]')
            .evaluateAll((all) => all.map((stage) => stage.getAttribute('data-stage')));
          expect(way.slice(0, 4)).toEqual(['request', 'export', 'import', 'payout']);
          expect(way.length).toBe(nextLegTxid === null ? 4 : 5);
          for (const stage of way) stages.add(String(stage));
        }
        await checkView(page, service.url, `/${side}/bridge`, 'bridge');
        await checkView(page, service.url, `/${side}`, 'chain');
      }
      expect(stages).toContain('next-leg');
      expect(complaints).toEqual([]);
      await close();
    });

    it('link from a conversion to its transactions on either chain', async () => {
      const { page, close } = await openPage(browser);
      const arrived = (await conversionsOf('pchain')).find(({ sourceSystemId }) => sourceSystemId !== null);
      await checkView(
        page,
        service.url,
        `/pchain/conversion/${arrived?.txid}/${arrived?.vout}?in=${arrived?.importTxid}`,
        'conversion',
      );
      for (const [stage, chain] of [
        ['request', 'root'],
        ['export', 'root'],
        ['import', 'pchain'],
      ]) {
        const link = page.locator(`[data-stage=${stage}] a[href*="/tx/"]`);
        expect(await link.getAttribute('href')).toMatch(new RegExp(`^/${chain}/tx/`));
        await link.click();
        await page.locator('main[data-view=tx][data-ready=true]').waitFor();
        await page.goBack();
        await page.locator('main[data-view=conversion][data-ready=true]').waitFor();
      }
      await close();
    });
  });
}
