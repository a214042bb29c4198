/** Checks the accessibility of views in both themes, narrow and wide. SCREENSHOTS names a folder for screenshots of each. */
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousViolations } from './axe.ts';
import { openInTurn, type ViewAddress } from './generic-check.ts';
import { untidyCards } from './narrow-cards.ts';
import { openPage, type PageSession } from './watched-page.ts';

const NARROW = 360;
const WIDTHS = [NARROW, 1440];
const THEMES = ['light', 'dark'] as const;

/**
 * Opens each view once, as a reader does: the first by its address, the others by links. Width and theme are properties of the window, and
 * change only the style.
 */
export async function checkAccessibility(
  browser: Browser,
  base: string,
  views: readonly ViewAddress[],
  reader?: PageSession,
): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  const options = { reducedMotion: 'reduce', bypassCSP: true } as const;
  const { page, close } = await openPage(browser, options, reader);
  let index = 0;
  for await (const [view, address] of openInTurn(page, base, views)) {
    if (await page.locator('figure').count()) await page.locator('canvas').first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      if (width === NARROW) expect(await untidyCards(page), `${address} ${width}`).toEqual([]);
      for (const [at, colorScheme] of THEMES.entries()) {
        await page.emulateMedia({ colorScheme });
        const rules = at === 0 ? 'all' : 'of colours';
        expect(await seriousViolations(page, `${address} ${width} ${colorScheme}`, rules)).toEqual([]);
        if (folder) await photograph(page, `${folder}/${view}-${width}-${colorScheme}-${index}`);
      }
    }
    index += 1;
  }
  await close();
}

/** Takes screenshots as is, and in forced colours. */
async function photograph(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${name}.png`, fullPage: true });
  await page.emulateMedia({ forcedColors: 'active' });
  await page.screenshot({ path: `${name}-forced.png`, fullPage: true });
  await page.emulateMedia({ forcedColors: 'none' });
}
