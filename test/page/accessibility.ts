/** Views as axe-core sees them, narrow and wide. */
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { seriousViolations } from './axe.ts';
import { withoutStream } from './generic-check.ts';
import { openPage } from './watched-page.ts';

export type ViewAddress = readonly [view: string, address: string];

/** No view has a serious or critical violation, narrow and wide. SCREENSHOTS names a folder that gets a picture of each. */
export async function checkAccessibility(
  browser: Browser,
  base: string,
  views: readonly ViewAddress[],
  colorScheme: 'light' | 'dark',
): Promise<void> {
  for (const width of [360, 1440]) {
    const options = { viewport: { width, height: 900 }, colorScheme, bypassCSP: true };
    const { page, close } = await openPage(browser, options);
    for (const [index, [view, address]] of views.entries()) {
      await page.goto(withoutStream(base, address));
      await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
      expect(await seriousViolations(page, `${address} ${width}`)).toEqual([]);
      const folder = process.env.SCREENSHOTS;
      if (folder)
        await page.screenshot({ path: `${folder}/${view}-${width}-${colorScheme}-${index}.png`, fullPage: true });
    }
    await close();
  }
}
