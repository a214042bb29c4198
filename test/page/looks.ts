/**
 * Texts that look alike. The contrast of a text follows from its own colour, size and weight and from what its ancestors paint:
 * where all of it is the same, so is the contrast, and a table of a hundred rows has no more of them than one of three.
 */
import type { Page } from 'playwright-core';

/** Marks elements whose text stands for all of their look. */
export const OF_A_LOOK = 'data-of-a-look';
/** One may be covered by something else, which axe does not judge. */
const OF_EACH = 2;

/** Marks some of each look anew, as the page is shown now. */
export function markLooks(page: Page): Promise<void> {
  return page.evaluate(
    ([mark, ofEach]) => {
      for (const old of document.querySelectorAll(`[${mark}]`)) old.removeAttribute(mark);
      const numbers = new Map<string, number>();
      const looks = new Map<Element, number>();
      const lookOf = (element: Element): number => {
        const known = looks.get(element);
        if (known !== undefined) return known;
        const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight } = getComputedStyle(element);
        const { localName, parentElement } = element;
        const isDisabled = element.matches(':disabled, [aria-disabled="true"]');
        const look = [
          parentElement === null ? 0 : lookOf(parentElement),
          localName,
          element.getAttribute('class'), // of which pseudo-elements may follow
          isDisabled,
          ...[color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight],
        ].join(' ');
        const number = numbers.get(look) ?? numbers.size + 1;
        numbers.set(look, number);
        looks.set(element, number);
        return number;
      };
      const counts = new Map<number, number>();
      const hasText = ({ childNodes }: Element) =>
        [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
      // axe takes what stands in a field for its text.
      const candidates = [...document.body.querySelectorAll('*')].filter(
        (element) => hasText(element) || element.matches('input, select, textarea'),
      );
      for (const element of candidates) {
        if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        const look = lookOf(element);
        const count = counts.get(look) ?? 0;
        if (count >= ofEach) continue;
        counts.set(look, count + 1);
        element.setAttribute(mark, '');
      }
    },
    [OF_A_LOOK, OF_EACH] as const,
  );
}
