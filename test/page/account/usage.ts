/** The usage view in a real Chromium, compared with the API. SCREENSHOTS names a folder for screenshots. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey, type KeyOwner, setTier } from '../../../api/access/key-store.ts';
import { openSession } from '../../../api/access/sessions.ts';
import { CHAIN, type RunningService } from '../../api/running-service.ts';
import { checkAccessibility } from '../accessibility.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { checkPanels, checkView } from '../generic-check.ts';
import { openPage, type PageSession } from '../watched-page.ts';
import type { OpenedAccount } from './opened-account.ts';

const ADDRESS = '/usage';
const READ = '/api/market/protocol';
const PATIENT = { timeout: 60_000 };

export function viewOfUsage(opened: () => OpenedAccount): void {
  describe('the view of usage', () => {
    let service: Pick<RunningService, 'url' | 'stores'>;
    let browser: Browser;
    let owner: KeyOwner;
    let reader: PageSession;
    let bot: { readonly id: string; readonly key: string };
    let small: { readonly id: string; readonly key: string };

    beforeAll(async () => {
      ({ service, browser } = opened());
      owner = { chain: CHAIN, identityAddress: opened().identities.spender.address };
      const { postgres } = service.stores;
      await setTier(postgres, owner, 'developer');
      const { token, expiresAt } = await openSession(postgres, owner);
      reader = { token, expiresAt: expiresAt.toISOString(), identity: 'spender@', ...owner };
      [bot, small] = await Promise.all([newKey('bot', null), newKey('small', 5)]);
      for (let n = 0; n < 20; n++) await ask(bot.key, READ);
      for (let n = 0; n < 4; n++) await ask(bot.key, '/api/blocks/1');
      for (let n = 0; n < 12; n++) await ask(small.key, READ);
      await ask(bot.key, '/api/webhooks'); // needs a higher tier
    });

    async function newKey(name: string, creditsPerMinute: number | null) {
      const made = await createKey(service.stores.postgres, owner, name, creditsPerMinute);
      if (!made) throw new Error('no more keys');
      return { id: made.row.id, key: made.key };
    }

    async function ask(token: string, path: string) {
      const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
      return answer.text();
    }

    const panel = (page: Page, name: string) => page.getByRole('region', { name });
    /** Polls until all counts are written. */
    const written = () =>
      expect.poll(async () => {
        const { results } = JSON.parse(await ask(reader.token, '/api/usage?step=day'));
        const ofKeys = results.filter(({ keyId }: { keyId: string }) => keyId !== 'session');
        return ofKeys.reduce((sum: number, row: { requests: number }) => sum + row.requests, 0);
      }, PATIENT);

    it('shows every row of the API as a chart and as numbers, for each step', async () => {
      await written().toBe(37);
      const { page, complaints, close } = await openPage(browser, {}, reader);
      // Without a stream the page checks whether the index stands still; the session would pay for that, and the rows would change.
      const json = { status: 'ready', reasons: [], notes: [] };
      await page.route('**/api/health/ready', (route) => route.fulfill({ json }));
      for (const query of ['', '?step=hour', '?step=day', '?step=hour&span=all', `?key=${small.id}`]) {
        const { pointers } = await checkView(page, service.url, ADDRESS + query, 'usage', reader.token);
        const names = ['at', 'requests', 'credits', 'refused', 'rateLimited', 'keyLimited', 'tierRequired'];
        for (const figure of await page.locator('figure[data-points]').all()) {
          await figure.locator('canvas').waitFor();
          await figure.getByRole('button', { name: 'Show the numbers' }).click();
          expect(await figure.locator('tr[data-item]').count()).toBe(Number(await figure.getAttribute('data-points')));
        }
        expect([...pointers]).toContain('/api/usage/now /remaining');
        const opened = await checkPanels(page, service.url, ADDRESS, reader.token);
        expect([...opened.pointers]).toEqual(
          expect.arrayContaining(names.map((name) => `/api/usage /results/0/${name}`)),
        );
        expect([...opened.pointers]).toContain('/api/usage /results/0/route');
      }
      expect(complaints).toEqual([]);
      await close();
    });

    it('sums by key and by route, explains why requests were refused, and that a crash may lose two seconds', async () => {
      const { page, close } = await openPage(browser, {}, reader);
      await page.goto(`${service.url}${ADDRESS}?step=day&live=0`);
      await page.locator('main[data-view=usage][data-ready=true]').waitFor(); // rows show the names from the list of keys
      const rowsOf = (name: string) =>
        page
          .getByRole('table', { name })
          .locator('tbody tr')
          .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
      // Requests of the page itself count for the session.
      expect((await rowsOf('Sums by key')).filter(([key]) => key !== 'Sessions')).toEqual([
        ['bot', '25', '29', '1'],
        ['small', '12', '5', '7'],
      ]);
      const routes = new Map((await rowsOf('Sums by route')).map(([route, ...counts]) => [route, counts]));
      expect(routes.get(READ)).toEqual(['32', '25', '7']);
      expect(routes.get('/api/blocks/:height')).toEqual(['4', '8', '0']);
      const refused = panel(page, 'Refused requests by day');
      const sum = async (reason: string) => refused.locator(`[data-derived="sum-${reason}"]`).textContent();
      expect([await sum('rateLimited'), await sum('keyLimited'), await sum('tierRequired')]).toEqual(['0', '7', '1']);
      const said = await panel(page, 'What remains now').textContent();
      expect(said).toContain('after a crash of the service, the last 2 seconds before it may be missing');
      const loading = page.waitForEvent('download');
      await panel(page, 'Credits by day').getByRole('link', { name: 'CSV' }).click();
      const csv = await readFile(await (await loading).path(), 'utf8');
      const linesOf = (text: string) => text.split('\r\n').filter((line) => !line.includes(',session,'));
      expect(linesOf(csv)).toEqual(linesOf(await ask(reader.token, '/api/usage/csv?step=day&by=key&limit=5000')));
      await close();
    });

    it('shows no key as revoked before the list of keys has arrived', async () => {
      const { page, close } = await openPage(browser, {}, reader);
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route('**/api/keys', async (route) => {
        await promise;
        await route.continue();
      });
      await page.goto(`${service.url}${ADDRESS}?step=day&live=0`);
      const sums = page.getByRole('table', { name: 'Sums by key' });
      await sums.getByText(bot.id).waitFor();
      expect(await sums.textContent()).not.toContain('Revoked');
      resolve();
      await sums.getByText('bot', { exact: true }).waitFor();
      await close();
    });

    it('updates used and remaining credits while it is open', async () => {
      const { page, close } = await openPage(browser, {}, reader);
      await page.goto(`${service.url}${ADDRESS}?key=${bot.id}`);
      const remaining = panel(page, 'What remains now').locator('[data-field="/remaining"]');
      await remaining.waitFor();
      const before = Number(await remaining.getAttribute('value'));
      await panel(page, 'Credits by minute').getByRole('button', { name: 'Show the numbers' }).click();
      const credits = async () => {
        const cells = panel(page, 'Credits by minute').locator('figure [data-field$="/credits"]');
        const values = await cells.evaluateAll((all) => all.map((cell) => Number(cell.getAttribute('value'))));
        return values.reduce((sum, value) => sum + value, 0);
      };
      const shownBefore = await credits();
      for (let n = 0; n < 10; n++) await ask(bot.key, READ);
      await expect.poll(credits, PATIENT).toBe(shownBefore + 10); // in the table, which stays open
      await expect.poll(async () => Number(await remaining.getAttribute('value')), PATIENT).not.toBe(before);
      await close();
    });

    it('prices a plan like the service', async () => {
      const { page, close } = await openPage(browser, {}, reader);
      await page.goto(`${service.url}${ADDRESS}?live=0`);
      const plan = page.getByRole('region', { name: 'What a plan would cost' });
      await plan.getByRole('button', { name: 'Add a call' }).click();
      await plan.getByLabel('Call 3', { exact: true }).fill('getblock');
      await plan.getByLabel('How often, call 3', { exact: true }).fill('2');
      await plan.getByRole('button', { name: 'Price it' }).click();
      const calls = [
        { path: '/api/oracle/prices/:id', perSecond: 20 },
        { path: '/api/conversions/', perMinute: 1 },
        { rpc: 'getblock', perMinute: 2 },
      ];
      const body = JSON.stringify({ calls });
      const priced = await (await fetch(`${service.url}/api/usage/plan`, { method: 'POST', body })).json();
      const table = plan.getByRole('table', { name: 'Calls of the plan' });
      await table.waitFor();
      const shown = await table.locator('tbody tr td:nth-child(4)').allTextContents();
      const expected = priced.calls.map(({ creditsPerMinute }: { creditsPerMinute: number }) => creditsPerMinute);
      expect(shown.map((text) => Number(text.replaceAll(',', '')))).toEqual(expected);
      const tiers = await plan
        .getByRole('table', { name: 'Tiers for the plan' })
        .locator('td[data-label="The plan"]')
        .allTextContents();
      expect(tiers.map((text) => text === 'fits')).toEqual(priced.tiers.map(({ fits }: { fits: boolean }) => fits));
      await plan.getByLabel('Call 1', { exact: true }).fill('/api/nowhere');
      await plan.getByRole('button', { name: 'Price it' }).click();
      await plan.locator('[role=alert][data-code="invalid_parameter"]').waitFor();
      await close();
    });

    it('opens within the budget of credits, files and layout shift', async () => {
      await checkFirstPaint(browser, service.url, [ADDRESS], reader);
    });

    it('is accessible in both themes, narrow and wide', async () => {
      const views = [
        ['usage', ADDRESS],
        ['usage', `${ADDRESS}?step=hour&span=all`],
      ] as const;
      await checkAccessibility(browser, service.url, views, reader);
    });
  });
}
