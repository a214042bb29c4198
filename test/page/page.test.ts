/** The page, in a real Chromium: one service, one browser and one compiled page for all of it. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { pageSource } from '../../web/build/page-source.ts';
import { whyNoBrowser } from '../api/browser.ts';
import { type PairedService, startPairedService } from '../api/paired-service.ts';
import { type OpenedPage, servePage } from './opened-page.ts';
import { usedUpAllowance } from './scenarios/allowance.ts';
import { hostileContent } from './scenarios/hostile-content.ts';
import { movingChain } from './scenarios/moving-chain.ts';
import { tradingChains } from './scenarios/two-chains.ts';
import { upgradedService } from './scenarios/upgrade.ts';
import { wanderingReader } from './scenarios/wandering.ts';
import { withoutScript } from './scenarios/without-script.ts';
import { pageIsServed } from './serving.ts';
import { chainViews } from './views/chain-views.ts';
import { chartsAndFilters } from './views/charts-and-filters.ts';
import { firstViews } from './views/first-views.ts';
import { marketViews } from './views/market-views.ts';
import { viewsOfTwoChains } from './views/views-of-two-chains.ts';

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
  firstViews(opened);
  chainViews(opened);
  chartsAndFilters(opened);
  marketViews(opened);
  chartsAndFilters(opened);
  withoutScript(opened);
  usedUpAllowance(opened);
  wanderingReader(opened);
  movingChain(opened);
  hostileContent(opened);
  upgradedService(opened);

  describe('on two chains,', () => {
    let paired: PairedService;

    beforeAll(async () => {
      paired = await startPairedService({ page: pageSource });
    });

    afterAll(() => paired?.stop());

    tradingChains(opened, () => paired); // first: the chains are young
    viewsOfTwoChains(opened, () => paired);
  });
});
