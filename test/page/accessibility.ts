/** axe-core on the page as it is shown; only a context with `bypassCSP` lets it in. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { withoutStream } from './generic-check.ts';
import { openPage } from './watched-page.ts';

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

export type ViewAddress = readonly [view: string, address: string];

/** No view has a serious or critical violation, narrow and wide. SCREENSHOTS names a folder that gets a picture of each. */
export async function checkAccessibility(
  browser: Browser,
  base: string,
  views: readonly ViewAddress[],
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  for (const width of [360, 1440]) {
    const options = { viewport: { width, height: 900 }, colorScheme, bypassCSP: true };
    const { page, close } = await openPage(browser, options);
    for (const [index, [view, address]] of views.entries()) {
      await page.goto(withoutStream(base, address));
      await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
        const found = await axe.run();
        return found.violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0]?.html }));
      });
      for (const { id, impact, first } of violations) console.log(`axe: ${address} ${width} ${impact} ${id} ${first}`);
      expect(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')).toEqual([]);
      const folder = process.env.SCREENSHOTS;
      if (folder)
        await page.screenshot({ path: `${folder}/${view}-${width}-${colorScheme}-${index}.png`, fullPage: true });
    }
    await close();
  }
}
