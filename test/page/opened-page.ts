/** The built page, served from the whole recording, and a browser: started once for all tests of the page. */
import type { Browser } from 'playwright-core';
import type { BuiltPage } from '../../api/page/page-source.ts';
import { pageSource } from '../../web/build/page-source.ts';
import { startBrowser, whyNoBrowser } from '../api/browser.ts';
import { type RunningService, startService } from '../api/running-service.ts';

export interface ServedPage {
  readonly service: RunningService;
  readonly built: BuiltPage;
  /** What the compiler does from the next start of the API on. */
  compileAs(compile: () => Promise<BuiltPage>): void;
}

/** A service with the page, and a browser for it. */
export interface Opened {
  readonly service: RunningService;
  readonly browser: Browser;
}

/** With its prices. */
export type OpenedPage = ServedPage & Opened;

/** Without a browser where there is none. */
export async function servePage(): Promise<ServedPage & { readonly browser: Browser | null; stop(): Promise<void> }> {
  const built = await pageSource.build(); // kept, so that the service has it at once
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
