/** The page, in a real Chromium: one service, one browser and one compiled page for all views of the recording. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { whyNoBrowser } from '../api/browser.ts';
import { type OpenedPage, servePage } from './opened-page.ts';
import { wanderingReader } from './scenarios/wandering.ts';
import { pageIsServed } from './serving.ts';
import { buttons } from './views/buttons.ts';
import { chainViews } from './views/chain-views.ts';
import { chartsAndFilters } from './views/charts-and-filters.ts';
import { contrastOfLooks } from './views/contrast-of-looks.ts';
import { firstViews } from './views/first-views.ts';
import { longIdentities } from './views/long-identities.ts';
import { marketViews } from './views/market-views.ts';
import { waysThrough } from './views/ways-through.ts';
import { whatIsTyped } from './views/what-is-typed.ts';

let page: Awaited<ReturnType<typeof servePage>>;

beforeAll(async () => {
  page = await servePage();
});

afterAll(() => page?.stop());

function opened(): OpenedPage {
  const { browser } = page;
  if (!browser) throw new Error(String(whyNoBrowser));
  return { ...page, browser };
}

pageIsServed(() => page);

if (whyNoBrowser) it('the page in a browser', ({ skip }) => skip(String(whyNoBrowser)));

describe.skipIf(whyNoBrowser !== null)('in a browser,', () => {
  contrastOfLooks(opened);
  firstViews(opened);
  chainViews(opened);
  chartsAndFilters(opened);
  marketViews(opened);
  whatIsTyped(opened);
  waysThrough(opened);
  buttons(opened);
  longIdentities(opened);
  wanderingReader(opened); // last: the daemon is at its newest block and answers for all blocks
});
