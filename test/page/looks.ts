/**
 * Groups texts that look alike. The contrast of a text depends on its own colour, size and weight, and on what its ancestors paint: texts for
 * which all of these are equal have the same contrast, so a table of a hundred rows needs no more checks than a table of three.
 */
import type { Page } from 'playwright-core';

/** Marks elements whose text represents all texts of the same look. */
export const OF_A_LOOK = 'data-of-a-look';
/** Texts marked per look: one may be covered by another element, which axe does not judge. */
const OF_EACH = 2;

/** Renews the marks for the page as it is shown now. */
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
          element.getAttribute('class'), // pseudo-elements may depend on the class
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
      // axe treats the content of a field as its text.
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
