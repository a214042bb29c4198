/** Views of the market in a real Chromium: the contract of the marks (generic-check.ts), with the fields that each view must show. */
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../../api/access/key-store.ts';
import { openSession } from '../../../api/access/sessions.ts';
import { ALICE, CHAIN, NATIVE, type RunningService, USDX } from '../../api/running-service.ts';
import { checkAccessibility } from '../accessibility.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { checkPanels, checkView, checkViews, type ViewAddress, withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

interface Listed {
  readonly currencyId: string;
}
interface ListedPair {
  readonly basketId: string;
  readonly baseId: string;
  readonly quoteId: string;
}

export function marketViews(page: () => OpenedPage): void {
  describe('views of the market', () => {
    let service: RunningService;
    let browser: Browser;
    let baskets: Listed[];
    let priced: Listed[];
    let pairs: ListedPair[];

    const list = async <Row>(path: string) => (await (await fetch(`${service.url}${path}`)).json()) as Row[];

    beforeAll(async () => {
      ({ service, browser } = page());
      [baskets, priced, pairs] = await Promise.all([
        list<Listed>('/api/market/baskets'),
        list<Listed>('/api/market/currencies'),
        list<ListedPair>('/api/market/pairs'),
      ]);
    });

    /** One address of each view. */
    const addresses = (): readonly ViewAddress[] => {
      const [{ basketId, baseId, quoteId }] = pairs as [ListedPair, ...ListedPair[]];
      return [
        ['market', '/market'],
        ['price', `/market/price/${NATIVE}`],
        ['basket', `/market/basket/${basketId}`],
        ['pair', `/market/pair/${basketId}/${baseId}/${quoteId}`],
        ['pools', '/market/pools'],
        ['volume', '/market/volume'],
        ['conversions', '/market/conversions'],
        ['convert', `/market/convert?from=${NATIVE}&to=${USDX}&amount=12.5`],
      ];
    };

    async function checked(view: string, at: readonly string[], fields: (address: string) => readonly string[]) {
      const { page, complaints, close } = await openPage(browser);
      const left = [...at];
      const views = at.map((address) => [view, address] as const);
      for await (const { pointers } of checkViews(page, service.url, views)) {
        const address = left.shift() ?? '';
        expect([...pointers], address).toEqual(expect.arrayContaining([...fields(address)]));
        await showNumbers(page);
        await checkPanels(page, service.url, address);
      }
      expect(complaints).toEqual([]);
      await close();
    }

    /** Each chart's table has a row for each of its points. */
    async function showNumbers(page: Page): Promise<void> {
      for (const figure of await page.locator('figure[data-points]').all()) {
        await figure.getByRole('button', { name: 'Show the numbers' }).click();
        const rows = await figure.locator('tr[data-item]').count();
        expect(rows).toBe(Number(await figure.getAttribute('data-points')));
        expect(rows).toBeGreaterThan(0);
        await figure.locator('canvas').waitFor();
        expect(await figure.locator('[aria-hidden="true"] canvas').count()).toBe(1);
      }
    }

    const members = (path: string, names: string) => names.split(' ').map((name) => `${path}${name}`);

    it('market: every priced currency and basket', async () => {
      const rows = priced.flatMap((_, row) =>
        members(`/api/market/currencies /${row}/`, 'price change24h volume24h liquidity confidence'),
      );
      expect(priced.length).toBeGreaterThan(5);
      await checked('market', ['/market'], () => rows);
    });

    it('price: every priced currency', async () => {
      const fieldsOf = (address: string) => {
        const path = `/api/oracle/prices/${address.split('/')[3]}`;
        return [
          ...members(`${path} /currentPrice/`, 'usdPrice emaPrice confidence status totalDepth'),
          ...members(`${path} /guardRail/`, 'externalPrice deviationPct status source checkedAt'),
        ];
      };
      const at = priced.map(({ currencyId }) => `/market/price/${currencyId}`);
      await checked('price', at, fieldsOf);
      const path = `/api/oracle/prices/${NATIVE}`;
      await checked('price', [`/market/price/${NATIVE}?days=1`], () =>
        members(`${path} /liveCalculation/baskets/0/`, 'price depth weight'),
      );
    });

    it('basket: every basket', async () => {
      expect(baskets.length).toBeGreaterThan(2);
      const at = baskets.map(({ currencyId }) => `/market/basket/${currencyId}`);
      await checked('basket', at, (address) => {
        const index = at.indexOf(address);
        const basket = `/api/market/baskets /${index}/`;
        return [
          ...members(basket, 'tvl supply'),
          ...members(`${basket}reserves/0/`, 'reserve weight priceInReserve usdValue'),
          ...members(`${basket}reserves/1/`, 'reserve weight priceInReserve usdValue'),
        ];
      });
    });

    it('pair: every pair', async () => {
      expect(pairs.length).toBeGreaterThan(10);
      const at = pairs.map(({ basketId, baseId, quoteId }) => `/market/pair/${basketId}/${baseId}/${quoteId}`);
      await checked('pair', at, (address) =>
        members(
          `/api/market/pairs /${at.indexOf(address)}/`,
          'open high low close volumeBase volumeQuote volumeUsd liquidity',
        ),
      );
    });

    it('headings and titles show names although the URL contains i-addresses', async () => {
      const { page, complaints, close } = await openPage(browser);
      const [basket] = await list<{ currencyId: string; name: string }>('/api/market/baskets');
      const [pair] = await list<ListedPair & { base: string; quote: string }>('/api/market/pairs');
      if (!basket || !pair) throw new Error('the market has no basket');
      for (const [address, heading, id, chain] of [
        [`/market/price/${NATIVE}`, 'Price of VRSCTEST', NATIVE, ''],
        [`/market/basket/${basket.currencyId}`, `Basket ${basket.name}`, basket.currencyId, ''],
        [`/market/pair/${pair.basketId}/${pair.baseId}/${pair.quoteId}`, `${pair.base} / ${pair.quote}`, '', ''],
        [`/${CHAIN}/currency/${USDX}`, 'Currency usdx', USDX, CHAIN],
        [`/${CHAIN}/identity/${ALICE}`, 'Identity alice.VRSCTEST@', ALICE, CHAIN],
      ] as const) {
        await page.goto(withoutStream(service.url, address));
        await page.locator('main[data-ready=true]').waitFor();
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
        expect(await page.locator('.heading').textContent(), address).toContain(chain);
        const shownId = page.locator('.heading .id');
        expect(id === '' ? await shownId.count() : await shownId.textContent(), address).toBe(id || 0);
        await expect.poll(() => page.title()).toBe([heading, ...(chain ? [chain] : []), 'verustream'].join(' · '));
      }
      // The next view replaces the heading of the previous one.
      await page.getByRole('link', { name: 'Market', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Market', exact: true }).waitFor();
      expect(await page.title()).toBe('Market · verustream');
      expect(complaints).toEqual([]);
      await close();
    });

    it('pools and volume, by each period', async () => {
      await checked('pools', ['/market/pools'], () => [
        '/api/market/vrsc-pools /total',
        '/api/market/vrsc-pools /pools/0/amount',
      ]);
      const periods = ['daily', 'weekly', 'monthly'].map((period) => `/market/volume?period=${period}`);
      await checked('volume', periods, () => []);
    });

    it('conversions: by each status and type, and page by page', async () => {
      const queries = [
        '',
        '?status=completed',
        '?status=refunded&pageSize=10',
        '?type=via&minUsd=10',
        '?page=2',
        '?to=usdx',
      ];
      const at = queries.map((query) => `/market/conversions${query}`);
      await checked('conversions', at, () =>
        members(
          '/api/conversions/ /results/0/',
          'time height status type amountIn amountOut price fee usdValue rule txid',
        ),
      );
    });

    it('convert: an indication, labelled as such', async () => {
      const { page, complaints, close } = await openPage(browser);
      await checkView(page, service.url, `/market/convert?from=${NATIVE}&to=${USDX}&amount=2`, 'convert');
      const routes = page.getByRole('table', { name: 'Routes' });
      expect(await page.getByRole('combobox', { name: 'From' }).inputValue()).toBe('VRSCTEST');
      expect(await page.getByRole('combobox', { name: 'To' }).inputValue()).toBe('usdx');
      await page.getByText('An indication').waitFor();
      // Through a basket that contains both currencies, the rate is the quotient of their prices in it.
      const [pair] = pairs.filter(({ baseId, quoteId }) => baseId === NATIVE && quoteId === USDX);
      const href = `/market/basket/${pair?.basketId}`;
      const row = routes
        .locator('tbody tr', { has: page.locator(`a[href="${href}"]`) })
        .filter({ hasText: /^(?!.*through.*through)/ });
      const all =
        (await list<{ basketId: string; baseId: string; quoteId: string; price: number }>('/api/market/pairs')) ?? [];
      const price = all.find(
        ({ basketId, baseId, quoteId }) => basketId === pair?.basketId && baseId === NATIVE && quoteId === USDX,
      );
      const output = await row.first().locator('[data-derived="output"]').textContent();
      const shown = Number(output?.replaceAll(',', ''));
      expect(shown).toBeCloseTo(2 * (price?.price ?? Number.NaN), 4);
      await page.getByRole('textbox', { name: 'Amount' }).fill('none');
      await page.getByRole('button', { name: 'Compare routes' }).click();
      await page.getByText('The amount is a number of coins').waitFor();
      expect(complaints).toEqual([]);
      await close();
    });

    it('convert: estimates of the daemon for a session of the required tier', async () => {
      const { postgres } = service.stores;
      const holder = { chain: CHAIN, identityAddress: ALICE };
      const readers = await Promise.all(
        (['free', 'developer'] as const).map(async (tier) => {
          const { token, expiresAt } = await openSession(postgres, holder);
          return [tier, { token, expiresAt: expiresAt.toISOString(), identity: 'alice.VRSCTEST@', ...holder }] as const;
        }),
      );
      const address = `/market/convert?from=${NATIVE}&to=${USDX}&amount=1`;
      for (const [tier, reader] of readers) {
        await setTier(postgres, holder, tier);
        const { page, complaints, close } = await openPage(browser, {}, reader);
        await page.goto(withoutStream(service.url, address));
        await page.getByRole('table', { name: 'Routes', exact: true }).waitFor();
        expect(await page.getByText('An indication').count()).toBe(tier === 'free' ? 1 : 0);
        if (tier === 'free') await page.locator('[role=alert][data-code="tier_required"]').waitFor();
        else {
          const { pointers } = await checkPanels(page, service.url, address, reader.token);
          for (const field of ['output', 'rate', 'slippage', 'hops', 'fees/0/amount', 'legs/0/basket']) {
            expect([...pointers]).toContain(`/api/market/best-conversion /routes/0/${field}`);
          }
        }
        expect(complaints).toEqual([]);
        await close();
      }
      await checkFirstPaint(browser, service.url, [address], readers[1]?.[1]);
      await setTier(postgres, holder, 'free');
    });

    it('writes the filters of conversions to the URL and reads them from it', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, '/market/conversions'));
      const form = page.getByRole('form', { name: 'Filter conversions' });
      await form.getByRole('combobox', { name: 'status', exact: true }).selectOption('completed');
      await page.waitForURL(/status=completed/);
      await form.getByRole('combobox', { name: 'to', exact: true }).fill('usdx');
      await form.getByRole('textbox', { name: 'minUsd' }).fill('50');
      await form.getByRole('textbox', { name: 'minUsd' }).press('Enter');
      await page.waitForURL(/minUsd=50/);
      const url = new URL(page.url());
      expect(Object.fromEntries(url.searchParams)).toEqual({
        status: 'completed',
        to: 'usdx',
        minUsd: '50',
        live: '0',
      });
      await page.locator('main[data-ready="true"] tr[data-item]').first().waitFor();
      const rowsOf = (of: Page) => of.locator('tr[data-item]').allInnerTexts();
      const rows = await rowsOf(page);
      const csv = await page.locator('.menu a', { hasText: 'CSV' }).first().getAttribute('href');
      expect(csv).toBe('/api/conversions/?to=usdx&status=completed&minUsd=50&format=csv');

      const other = await openPage(browser);
      await checkView(other.page, service.url, `${url.pathname}${url.search}`, 'conversions');
      expect(await rowsOf(other.page)).toEqual(rows);
      const again = other.page.getByRole('form', { name: 'Filter conversions' });
      expect(await again.getByRole('combobox', { name: 'status', exact: true }).inputValue()).toBe('completed');
      expect(await again.getByRole('combobox', { name: 'to', exact: true }).inputValue()).toBe('usdx');
      expect(await again.getByRole('textbox', { name: 'minUsd' }).inputValue()).toBe('50');
      await again.getByRole('combobox', { name: 'diverged' }).selectOption('true');
      await other.page.waitForURL(/diverged=true/);
      await other.page.locator('main[data-ready="true"] form').first().waitFor();
      await other.page.goto(withoutStream(service.url, '/market/conversions?status=lost'));
      await other.page
        .locator('main[data-ready="failed"] [role=alert][data-code="invalid_parameter"]', { hasText: 'status' })
        .waitFor();
      expect(await again.locator('[aria-invalid="true"]').getAttribute('name')).toBe('status');
      expect([...complaints, ...other.complaints]).toEqual([]);
      await other.close();
      await close();
    });

    it('arrow keys move through a chart, also under a locale that is not a language tag', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.addInitScript(() =>
        Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true }),
      );
      await page.goto(withoutStream(service.url, `/market/price/${NATIVE}`));
      await page.locator('figure canvas').waitFor();
      expect(await page.evaluate(() => navigator.language)).toBe('en-US@posix');
      const points = page.getByRole('slider', { name: /^Points/ });
      await points.focus();
      await page.keyboard.press('Home');
      const first = await points.getAttribute('aria-valuetext');
      expect(await points.getAttribute('aria-valuenow')).toBe('1');
      await page.keyboard.press('ArrowRight');
      expect(await points.getAttribute('aria-valuenow')).toBe('2');
      expect(await points.getAttribute('aria-valuetext')).not.toBe(first);
      expect(complaints).toEqual([]);
      await close();
    });

    it('suggests names that the keyboard can choose; Enter opens what was typed', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, '/market'));
      await page.locator('main[data-ready="true"]').waitFor();
      const pathOf = () => new URL(page.url()).pathname;
      await page.keyboard.press('/');
      await page.keyboard.type('ali');
      const suggestions = page.getByRole('listbox', { name: 'Suggestions' });
      await suggestions.getByRole('option', { name: /^alice/ }).waitFor();
      await page.keyboard.press('ArrowDown');
      expect(await suggestions.getByRole('option', { selected: true }).count()).toBe(1);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname.startsWith(`/${CHAIN}/identity/`));

      const height = 676;
      const block = (await (await fetch(`${service.url}/api/blocks/${height}`)).json()) as {
        hash: string;
        transactions: { txid: string }[];
      };
      const txid = block.transactions[0]?.txid;
      const { results } = (await (await fetch(`${service.url}/api/richlist/top?limit=20`)).json()) as {
        results: { address: string }[];
      };
      const holder = results.find(({ address }) => address.startsWith('R'))?.address;
      for (const [typed, path] of [
        [block.hash, `/${CHAIN}/block/${height}`],
        [txid, `/${CHAIN}/tx/${txid}`],
        [String(height), `/${CHAIN}/block/${height}`],
        ['alice@', `/${CHAIN}/identity/${ALICE}`],
        [holder, `/${CHAIN}/address/${holder}`],
        ['nobody@', '/search'],
      ] as const) {
        const search = page.getByRole('combobox', { name: 'Search' });
        await search.fill(`${typed}`);
        await search.press('Enter'); // the heading of the previous view may just have received the focus
        await expect.poll(pathOf).toBe(path);
      }
      expect(new URL(page.url()).searchParams.get('q')).toBe('nobody@');
      expect(complaints).toEqual([]);
      await close();
    });

    it('focuses the heading of a new view before the next key, so that a reader who is already typing in the search stays there', async () => {
      const { page, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, '/market'));
      await page.locator('main[data-ready="true"]').waitFor();
      for (const [place, link] of ['a.brand', 'a[href="/market"]', 'a.brand', 'a[href="/market"]'].entries()) {
        const focused = await page.evaluate(async (selector) => {
          const tagOf = () => document.activeElement?.tagName;
          document.getElementById('search')?.focus();
          document.querySelector<HTMLElement>(`header ${selector}`)?.click();
          const { port1, port2 } = new MessageChannel();
          await new Promise((resolve) => {
            port1.onmessage = resolve;
            port2.postMessage(null);
          });
          const atOnce = tagOf();
          document.getElementById('search')?.focus();
          await new Promise((resolve) => setTimeout(resolve, 500));
          return [atOnce, tagOf()];
        }, link);
        expect([place, ...focused]).toEqual([place, 'H1', 'INPUT']); // from the third navigation on, answers come from the cache
      }
      await close();
    });

    it('reports unknown objects', async () => {
      const { page, close } = await openPage(browser);
      for (const [view, address] of [
        ['price', '/market/price/nobody'],
        ['basket', '/market/basket/nobody'],
      ]) {
        await page.goto(withoutStream(service.url, `${address}`));
        await page.locator(`main[data-view="${view}"][data-ready="not-found"] [role=alert]`).first().waitFor();
      }
      await close();
    });

    it('stays within its budgets of requests, credits and layout shift', async () => {
      const all = addresses().map(([, address]) => address);
      await checkFirstPaint(browser, service.url, all);
    });

    it('is accessible in both themes, narrow and wide', async () => {
      await checkAccessibility(browser, service.url, addresses());
    });
  });
}
