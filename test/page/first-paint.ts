/** What the first paint of a view costs. */
import type { Browser } from 'playwright-core';
import { openPage, type PageSession } from './watched-page.ts';

export interface FirstPaint {
  /** Files of the page, its document included. */
  readonly files: number;
  readonly calls: number;
  /** Of the calls, and of the stream. */
  readonly credits: number;
}

export async function firstPaint(
  browser: Browser,
  base: string,
  address: string,
  reader?: PageSession,
): Promise<FirstPaint> {
  const { page, requests, close } = await openPage(browser, {}, reader);
  await page.goto(`${base}${address}`);
  await page.locator('main[data-ready="true"]').waitFor();
  const files = requests.filter((request) => /\/assets\/|text\/html/.test(`${request.url()}${request.resourceType()}`));
  const calls = requests.filter((request) => new URL(request.url()).pathname.startsWith('/api/'));
  const answers = await Promise.all(calls.map((request) => request.response()));
  const costs = answers.map((answer) => Number(answer?.headers()['x-credits-cost'] ?? 1));
  const credits = costs.reduce((sum, each) => sum + each, 0) + 1;
  console.log(`page: ${address} ${files.length} files, ${calls.length} calls, ${credits} credits`);
  await close();
  return { files: files.length, calls: calls.length, credits };
}
