/** Scenario 14: what a view shows without any script. */
import { describe, expect, it } from 'vitest';
import { CHAIN } from '../../api/running-service.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

export function withoutScript(opened: () => Opened): void {
  describe('without JavaScript', () => {
    it('scenario 14: each view has its title, its description and a link to its JSON', async () => {
      const { service, browser } = opened();
      const { page, complaints, close } = await openPage(browser, { javaScriptEnabled: false });
      for (const [address, title, json] of [
        ['/', 'Live · verustream', '/api/stats/pulse'],
        [`/${CHAIN}/block/7`, `Block 7 · ${CHAIN} · verustream`, `/api/blocks/7?chain=${CHAIN}`],
        [
          `/${CHAIN}/identity/alice@`,
          `Identity alice@ · ${CHAIN} · verustream`,
          `/api/identity/alice%40?chain=${CHAIN}&unconfirmed=true`,
        ],
        ['/market', 'Market · verustream', '/api/market/currencies'],
      ] as const) {
        await page.goto(`${service.url}${address}`);
        expect(await page.title()).toBe(title);
        const description = await page.locator('meta[name=description]').getAttribute('content');
        expect(description?.length).toBeGreaterThan(20);
        expect(await page.locator('noscript').textContent()).toContain(description);
        expect(await page.locator('noscript a').first().getAttribute('href')).toBe(json);
        expect(await page.locator('link[rel=alternate][type="application/json"]').getAttribute('href')).toBe(json);
        expect((await fetch(`${service.url}${json}`)).headers.get('content-type')).toMatch(
          /^application\/(problem\+)?json/,
        );
      }
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
