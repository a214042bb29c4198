/** Accessibility of views in both themes, narrow and wide. SCREENSHOTS names a folder that gets a picture of each. */
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { seriousViolations } from './axe.ts';
import { withoutStream } from './generic-check.ts';
import { openPage, type PageSession } from './watched-page.ts';

export type ViewAddress = readonly [view: string, address: string];

const WIDTHS = [360, 1440];
const THEMES = ['light', 'dark'] as const;

export async function checkAccessibility(
  browser: Browser,
  base: string,
  views: readonly ViewAddress[],
  reader?: PageSession,
): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  const checkAt = async (width: number) => {
    const viewport = { width, height: 900 };
    const options = { viewport, reducedMotion: 'reduce', bypassCSP: true } as const;
    const { page, close } = await openPage(browser, options, reader);
    for (const [index, [view, address]] of views.entries()) {
      await page.goto(withoutStream(base, address));
      await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
      if (await page.locator('figure').count()) await page.locator('canvas').first().waitFor();
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        expect(await seriousViolations(page, `${address} ${width} ${colorScheme}`)).toEqual([]);
        const path = `${folder}/${view}-${width}-${colorScheme}-${index}.png`;
        if (folder) await page.screenshot({ path, fullPage: true });
      }
    }
    await close();
  };
  await Promise.all(WIDTHS.map(checkAt));
}
