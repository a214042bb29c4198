/** Scenario 11: text of a chain that would do harm if the page took it for markup, for a URL or for its own words. */
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageSource } from '../../../web/build/page-source.ts';
import { CHAIN, type RunningService, startServiceOn } from '../../api/running-service.ts';
import { type ChainDaemon, startChainDaemon } from '../../generator/chain-daemon.ts';
import { EVERYTHING } from '../../generator/mixes.ts';
import { SEED } from '../../setup/seed.ts';
import { checkPanels, openInTurn, type ViewAddress, withoutStream } from '../generic-check.ts';
import { HOSTILE_TEXTS, LARGE_TEXT } from '../hostile-texts.ts';
import type { Opened } from '../opened-page.ts';
import { openPage, type WatchedPage } from '../watched-page.ts';

const BLOCKS = 200;
const IDENTITIES = 12;
const WIDTHS = [360, 1440];
const CONTENT_KEY = 'iK7a5JNJnbeuYWVHCDRpJosj3irGJ5Qa8c';
/** Characters that are invisible, or change how their neighbours are shown. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}]/u;

export function hostileContent(opened: () => Opened): void {
  describe('hostile content', () => {
    let service: RunningService<ChainDaemon>;

    beforeAll(async () => {
      const chain = { seed: SEED, addresses: 30, transactions: 6, mix: EVERYTHING };
      service = await startServiceOn(await startChainDaemon(chain, BLOCKS), { page: pageSource });
      await service.settled();
    });

    afterAll(() => service?.stop());

    const list = async <Row>(path: string) =>
      ((await (await fetch(`${service.url}${path}`)).json()) as { results: Row[] }).results;

    function expectHarmless({ complaints, requests }: WatchedPage): void {
      expect(complaints).toEqual([]);
      const elsewhere = requests.map((request) => request.url()).filter((url) => !url.startsWith(service.url));
      expect(elsewhere.filter((url) => !url.startsWith('data:'))).toEqual([]);
    }

    it('scenario 11: of a generated chain is shown as the API returns it, and runs nothing', async () => {
      const identities = await list<{ identityAddress: string }>('/api/identity/?pageSize=200');
      const currencies = await list<{ currencyId: string }>('/api/currency/?pageSize=5');
      const blocks = await list<{ height: number }>('/api/blocks/?pageSize=5');
      expect(identities.length).toBeGreaterThan(IDENTITIES);
      const views: readonly ViewAddress[] = [
        ['live', '/'],
        ['identities', `/${CHAIN}/identities`],
        ['currencies', `/${CHAIN}/currencies`],
        ['richlist', `/${CHAIN}/richlist`],
        ...identities
          .slice(0, IDENTITIES)
          .flatMap(({ identityAddress: id }) =>
            ['', '?tab=content'].map((tab): ViewAddress => ['identity', `/${CHAIN}/identity/${id}${tab}`]),
          ),
        ...currencies.map(({ currencyId }): ViewAddress => ['currency', `/${CHAIN}/currency/${currencyId}`]),
        ...blocks.map(({ height }): ViewAddress => ['block', `/${CHAIN}/block/${height}`]),
      ];
      const tab = await openPage(opened().browser);
      for await (const [, address] of openInTurn(tab.page, service.url, views)) {
        for (const width of WIDTHS) {
          await tab.page.setViewportSize({ width, height: 900 });
          await checkPanels(tab.page, service.url, address);
          await expectInert(tab.page);
        }
      }
      expectHarmless(tab);
      await tab.close();
    });

    it('scenario 11: markup, scripts, direction marks and 900 kB stay text in names and in content', async () => {
      const texts = Object.values(HOSTILE_TEXTS);
      const [first] = await list<{ identityAddress: string }>('/api/identity/?pageSize=1');
      for (const width of WIDTHS) {
        const tab = await openPage(opened().browser, { viewport: { width, height: 900 } });
        const { page } = tab;
        await page.route('**/api/identity/?*', (route) =>
          changed(route, (answer: { results: object[] }) => ({
            ...answer,
            results: answer.results.slice(0, texts.length).map((row, index) => ({
              ...row,
              name: texts[index],
              fullyQualifiedName: texts[index],
            })),
          })),
        );
        await page.route('**/multimap*', (route) =>
          changed(route, (answer: object) => ({
            ...answer,
            contentmultimap: { [CONTENT_KEY]: [...texts, LARGE_TEXT], [HOSTILE_TEXTS.markup]: texts },
            decoded: { [CONTENT_KEY]: [...texts, LARGE_TEXT] },
          })),
        );
        await page.goto(withoutStream(service.url, `/${CHAIN}/identities`));
        await page.locator('main[data-ready=true]').waitFor();
        for (const text of [HOSTILE_TEXTS.markup, HOSTILE_TEXTS.script, HOSTILE_TEXTS.address]) {
          await page.locator('td', { hasText: text }).first().waitFor();
        }
        await page.locator('.badge.warn', { hasText: 'mixed scripts' }).first().waitFor();
        await expectInert(page);
        await page.goto(withoutStream(service.url, `/${CHAIN}/identity/${first?.identityAddress}?tab=content`));
        await page.locator('main[data-ready=true] [data-src*="/multimap"]').waitFor();
        for (const summary of await page.locator('main details:not(.menu) > summary').all()) await summary.click();
        await page.getByText('Show more (').first().waitFor();
        await expectInert(page);
        expectHarmless(tab);
        await tab.close();
      }
    });
  });
}

async function changed<Answer>(route: Route, change: (answer: Answer) => object): Promise<void> {
  const response = await route.fetch();
  await route.fulfill({ response, json: change((await response.json()) as Answer) });
}

/** Nothing ran, nothing became an element or a link, no invisible character is in the text, and nothing is wider than the window. */
async function expectInert(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    harmed: 'harmed' in window,
    elements: document.querySelectorAll('main img, main script, main iframe, main object').length,
    links: [...document.querySelectorAll('a')].filter(({ protocol }) => !/^https?:$/.test(protocol)).length,
    text: document.querySelector('main')?.textContent ?? '',
    width: [document.documentElement.scrollWidth, document.documentElement.clientWidth],
  }));
  expect(found).toMatchObject({ harmed: false, elements: 0, links: 0 });
  expect(UNSEEN.exec(found.text)?.[0]).toBeUndefined();
  expect(found.width[0]).toBeLessThanOrEqual(found.width[1] ?? 0);
}
