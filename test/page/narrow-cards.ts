/** Where a table has no room for columns, each row is a card: labels on the left, and each value in one piece on the right. */
import type { Page } from 'playwright-core';

/** @returns cells whose text is torn apart or starts below its label, and panels whose menu wraps below the heading */
export function untidyCards(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const EDGE = 1.5;
    const WIDEST_GAP = 20;
    const textsIn = (cell: Element): DOMRect[] => {
      const found: DOMRect[] = [];
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const { currentNode } = texts;
        if (currentNode.parentElement?.closest('.hidden, .tree, button') || !currentNode.nodeValue?.trim()) continue;
        const id = currentNode.parentElement?.closest('.id');
        if (id) {
          found.push(id.getBoundingClientRect()); // the middle of an id is hidden
          continue;
        }
        const range = document.createRange();
        range.selectNodeContents(currentNode);
        found.push(...[...range.getClientRects()].filter(({ width }) => width > 0));
      }
      return found;
    };
    const isTorn = (rects: readonly DOMRect[]) =>
      rects.some((one) => {
        const after = rects.filter((other) => other !== one && other.top < one.bottom && other.bottom > one.top);
        const gaps = after.filter((other) => other.left >= one.right).map((other) => other.left - one.right);
        return gaps.length > 0 && Math.min(...gaps) > WIDEST_GAP;
      });
    const untidy: string[] = [];
    for (const cell of document.querySelectorAll('td[data-label]')) {
      const { left, right } = cell.getBoundingClientRect();
      const rects = textsIn(cell);
      const startsLeft = rects.some((rect) => rect.left < left + EDGE && rect.right < right - EDGE);
      if (startsLeft || isTorn(rects)) untidy.push(`${cell.getAttribute('data-label')}: ${cell.textContent}`);
    }
    for (const header of document.querySelectorAll('.panel > header')) {
      const [heading, menu] = [header.querySelector('h2'), header.querySelector('.menu > summary')];
      if (!heading || !menu) continue;
      const [of, at] = [heading.getBoundingClientRect(), menu.getBoundingClientRect()];
      if (at.top >= of.bottom) untidy.push(`menu of ${heading.textContent}`);
    }
    return untidy;
  });
}
