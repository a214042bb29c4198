/** Conversions over two chains, as either chain's views show them. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageSource } from '../../web/build/page-source.ts';
import { startBrowser, whyNoBrowser } from '../api/browser.ts';
import { type PairedService, SIDES, startPairedService } from '../api/paired-service.ts';
import { checkView } from './generic-check.ts';
import { openPage } from './watched-page.ts';

interface Row {
  readonly txid: string;
  readonly vout: number;
  readonly importTxid: string | null;
  readonly sourceSystemId: string | null;
  readonly nextLegTxid: string | null;
}

if (whyNoBrowser) it('views of two chains', ({ skip }) => skip(String(whyNoBrowser)));

describe.skipIf(whyNoBrowser !== null)('views of two chains', () => {
  let service: PairedService;
  let browser: Browser;

  beforeAll(async () => {
    await pageSource.build();
    service = await startPairedService({ page: pageSource });
    browser = await startBrowser();
    for (const side of SIDES) await service.go(side, service.tips[side]);
    await service.settled();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('show each conversion from the chain that asked and from the one that executed', async () => {
    const { page, complaints, close } = await openPage(browser);
    const stages = new Set<string>();
    for (const side of SIDES) {
      const answer = await fetch(`${service.url}/api/conversions/?chain=${side}&pageSize=200`);
      const { results } = (await answer.json()) as { results: readonly Row[] };
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

  it('lead from a conversion to its transactions on either chain', async () => {
    const { page, close } = await openPage(browser);
    const answer = await fetch(`${service.url}/api/conversions/?chain=pchain&pageSize=200`);
    const { results } = (await answer.json()) as { results: readonly Row[] };
    const arrived = results.find(({ sourceSystemId }) => sourceSystemId !== null);
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
