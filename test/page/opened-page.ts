/** The built page, served from the whole recording, and a browser; started once for all tests of the page. */
import type { Browser } from 'playwright-core';
import type { BuiltPage } from '../../api/page/page-source.ts';
import { pageSource } from '../../web/build/page-source.ts';
import { startBrowser, whyNoBrowser } from '../api/browser.ts';
import { type RunningService, startService } from '../api/running-service.ts';

export interface ServedPage {
  readonly service: RunningService;
  readonly built: BuiltPage;
  /** Replaces the compiler from the next start of the API on. */
  compileAs(compile: () => Promise<BuiltPage>): void;
}

/** A service with the page, and a browser for it. */
export interface Opened {
  readonly service: RunningService;
  readonly browser: Browser;
}

/** A served page with its browser; the service has all its prices. */
export type OpenedPage = ServedPage & Opened;

/** Returns no browser where none can run. */
export async function servePage(): Promise<ServedPage & { readonly browser: Browser | null; stop(): Promise<void> }> {
  const built = await pageSource.build(); // cached, so that the service has the page at once
  let compile = async () => built;
  const service = await startService({ page: { ...pageSource, build: () => compile() } });
  const browser = whyNoBrowser === null ? await startBrowser() : null;
  await service.settled(true);
  return {
    service,
    built,
    browser,
    compileAs(next) {
      compile = next;
    },
    async stop() {
      await browser?.close();
      await service.stop();
    },
  };
}
