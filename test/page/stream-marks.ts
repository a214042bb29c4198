/** The stream state that a view shows from the first paint on, and the blocks of its lanes. */
import type { Page } from 'playwright-core';

declare global {
  interface Window {
    streamMarks?: { states: string[]; sequences: number[] };
  }
}

/** Called before the page is opened; records each `data-stream` and `data-seq` of `main`. */
export async function watchStream(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const marks = { states: [] as string[], sequences: [] as number[] };
    window.streamMarks = marks;
    const note = () => {
      const { stream, seq } = document.querySelector<HTMLElement>('main')?.dataset ?? {};
      if (stream !== undefined && marks.states.at(-1) !== stream) marks.states.push(stream);
      if (seq !== undefined && marks.sequences.at(-1) !== Number(seq)) marks.sequences.push(Number(seq));
    };
    const options = { subtree: true, childList: true, attributeFilter: ['data-stream', 'data-seq'] };
    new MutationObserver(note).observe(document, options);
  });
}

export const marksOf = (page: Page) => page.evaluate(() => window.streamMarks ?? { states: [], sequences: [] });

export interface LaneItem {
  readonly height: number;
  readonly hash: string;
  readonly state: string;
}

/** In the order of the lane. */
export function laneOf(page: Page, chain: string): Promise<LaneItem[]> {
  return page.getByRole('list', { name: `Blocks of ${chain}` }).evaluate((list) =>
    [...list.children].map((item) => {
      const { height, hash = '', state = '' } = (item as HTMLElement).dataset;
      return { height: Number(height), hash, state };
    }),
  );
}

export const streamIs = (page: Page, state: string) => page.locator(`main[data-stream="${state}"]`).waitFor();
