/** A page in Chromium that records every console message, error and request. */
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';

export interface WatchedPage {
  readonly page: Page;
  /** Console messages, policy violations and script errors; tests expect none. */
  readonly complaints: string[];
  readonly requests: Request[];
  close(): Promise<void>;
}

/** Chromium logs this for every failed answer of the page's own origin; the page shows these errors itself. */
const FAILED_ANSWER = /^Failed to load resource: the server responded with a status of (400|401|403|404|429|503)/;

/** A session as the page stores it in its tab. */
export interface PageSession {
  readonly token: string;
  readonly expiresAt: string;
  readonly identity: string;
  readonly identityAddress: string;
  readonly chain: string;
}

/** @param reader the session that is logged in from the first document on */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
  reader?: PageSession,
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: Request[] = [];
  page.on('console', (message) => {
    if (!FAILED_ANSWER.test(message.text())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requests.push(request));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`policy: ${violatedDirective} ${blockedURI}`),
    );
  });
  if (reader) {
    const kept = JSON.stringify({ sessions: [reader], reader: reader.token });
    await page.addInitScript((text) => sessionStorage.setItem('sessions', text), kept);
  }
  return { page, complaints, requests, close: () => context.close() };
}
