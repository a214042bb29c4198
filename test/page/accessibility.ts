/** Accessibility of views in a theme, narrow and wide. SCREENSHOTS names a folder that gets a picture of each. */
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { seriousViolations } from './axe.ts';
import { withoutStream } from './generic-check.ts';
import { openPage, type PageSession } from './watched-page.ts';

export type ViewAddress = readonly [view: string, address: string];

export async function checkAccessibility(
  browser: Browser,
  base: string,
  views: readonly ViewAddress[],
  colorScheme: 'light' | 'dark',
  reader?: PageSession,
): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  for (const width of [360, 1440]) {
    const options = { viewport: { width, height: 900 }, colorScheme, bypassCSP: true };
    const { page, close } = await openPage(browser, options, reader);
    for (const [index, [view, address]] of views.entries()) {
      await page.goto(withoutStream(base, address));
      await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
      expect(await seriousViolations(page, `${address} ${width}`)).toEqual([]);
      const path = `${folder}/${view}-${width}-${colorScheme}-${index}.png`;
      if (folder) await page.screenshot({ path, fullPage: true });
    }
    await close();
  }
}
