/**
 * Scenarios of the page over time, in a real Chromium; they share one browser, and one advancing service unless they need another chain.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { pageSource } from '../../web/build/page-source.ts';
import { startBrowser, whyNoBrowser } from '../api/browser.ts';
import { type PairedService, startPairedService } from '../api/paired-service.ts';
import { type RunningService, startService } from '../api/running-service.ts';
import type { Opened } from './opened-page.ts';
import { usedUpAllowance } from './scenarios/allowance.ts';
import { floodedReader } from './scenarios/flood.ts';
import { hostileContent } from './scenarios/hostile-content.ts';
import { movingChain } from './scenarios/moving-chain.ts';
import { killedService } from './scenarios/outage.ts';
import { slowMachine } from './scenarios/slow-machine.ts';
import { tradingChains } from './scenarios/two-chains.ts';
import { upgradedService } from './scenarios/upgrade.ts';
import { waitingTransactions } from './scenarios/waiting-transactions.ts';
import { withoutScript } from './scenarios/without-script.ts';
import { viewsOfTwoChains } from './views/views-of-two-chains.ts';

/** Two blocks before the fork of the recording. */
const START = 843;
/** So long that no heartbeat is missed while a test moves the page's clock. */
const HEARTBEAT_MS = 120_000;

if (whyNoBrowser) it('scenarios of the page', ({ skip }) => skip(String(whyNoBrowser)));

describe.skipIf(whyNoBrowser !== null)('over time,', () => {
  let service: RunningService;
  let browser: Browser;
  const opened = (): Opened => ({ service, browser });

  beforeAll(async () => {
    await pageSource.build(); // cached, so that the service has the page at once
    service = await startService({ startHeight: START, page: pageSource, push: { heartbeatMs: HEARTBEAT_MS } });
    browser = await startBrowser();
    await service.settled();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  movingChain(opened); // first: the chain is young
  killedService(opened);
  withoutScript(opened);
  usedUpAllowance(opened);
  floodedReader(opened);
  slowMachine(opened);
  upgradedService(opened);
  hostileContent(opened);
  waitingTransactions(opened);

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
