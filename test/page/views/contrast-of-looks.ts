/**
 * Contrast is measured for a few texts of each look. A text that differs from its neighbours in anything that affects contrast is still
 * found.
 */
import { describe, expect, it } from 'vitest';
import { seriousViolations } from '../axe.ts';
import { OF_A_LOOK } from '../looks.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const ROWS = 100;
/** Rules that make one row faint on white, in the dark theme only. */
const FAINT = {
  'a colour of its own': 'tr.odd td { color: #aaa }',
  'the background of an ancestor': 'tr.odd { background: #555 }',
  'the opacity of an ancestor': 'tr.odd { opacity: 0.3 }',
  'its position among its neighbours': 'tr:nth-child(50) td { color: #aaa }',
};
const sheet = (rule: string) => `
  body { background: #fff; color: #333 }
  @media (prefers-color-scheme: dark) { ${rule} }`;

export function contrastOfLooks(opened: () => Opened): void {
  describe('the contrast of a text among many that look alike', () => {
    it.each(Object.entries(FAINT))('is found by %s', async (what, rule) => {
      const { page, close } = await openPage(opened().browser, { bypassCSP: true });
      const rows = Array.from(
        { length: ROWS },
        (_, row) => `<tr class="${row === 49 ? 'odd' : ''}"><td>${row}</td></tr>`,
      );
      await page.setContent(`<style>${sheet(rule)}</style><table>${rows.join('')}</table>`);
      expect(await seriousViolations(page, what, 'of colours')).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await seriousViolations(page, what, 'of colours')).toMatchObject([{ id: 'color-contrast' }]);
      expect(await page.locator(`[${OF_A_LOOK}]`).count()).toBeLessThan(ROWS / 10);
      await close();
    });
  });
}
