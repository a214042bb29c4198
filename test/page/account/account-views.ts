/**
 * Views of an account: they show one identity only, carry the marks for comparison with the API, and work in both themes and within their
 * budgets.
 */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../../api/access/key-store.ts';
import { openSession } from '../../../api/access/sessions.ts';
import { CHAIN, type RunningService } from '../../api/running-service.ts';
import { storeIdentity } from '../../support/api/access/store-identity.ts';
import { checkAccessibility } from '../accessibility.ts';
import { seriousViolations } from '../axe.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { checkView, type ViewAddress, withoutStream } from '../generic-check.ts';
import { openPage, type PageSession } from '../watched-page.ts';
import { type OpenedAccount, OTHER_CHAIN, PRO_CREDITS } from './opened-account.ts';

const BOB = 'iPsFBfFoCcxtuZNzE8yxPQhXVn4dmytf8j';
const READ = '/api/market/protocol';
/** Remaining time of a session that a test lets expire. */
const LAST_MS = 60_000;
const VIEWS: readonly ViewAddress[] = [
  ['login', '/login'],
  ['account', '/account'],
  ['keys', '/account/keys'],
];

export function accountViews(opened: () => OpenedAccount): void {
  describe('views of an account', () => {
    let service: Pick<RunningService, 'url' | 'stores'>;
    let browser: Browser;
    let address: string;
    let alice: PageSession;
    let bob: PageSession;

    beforeAll(async () => {
      const { identities } = opened();
      ({ service, browser } = opened());
      address = identities.viewer.address;
      await storeIdentity(service.stores.postgres, { chain: CHAIN, identityAddress: BOB, flags: 0 });
      await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: BOB }, 'pro');
      // The same i-address on another chain, where it has another name.
      await storeIdentity(service.stores.postgres, { chain: OTHER_CHAIN, identityAddress: address, flags: 0 });
      [alice, bob] = [await sessionOf(address), await sessionOf(BOB)];
      await makeKey(alice, { name: 'bot of alice', creditsPerMinute: 25 });
      await makeKey(alice, { name: 'a name with <b>markup</b> and \u202etricks' });
      await makeKey(bob, { name: 'bot of bob' });
    });

    const asked = (path: string, token: string, init: RequestInit = {}) =>
      fetch(`${service.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });

    async function sessionOf(identityAddress: string, chain = CHAIN): Promise<PageSession> {
      const { token, expiresAt } = await openSession(service.stores.postgres, { chain, identityAddress });
      const { identity } = (await (await asked('/api/auth/session', token)).json()) as PageSession;
      return { token, expiresAt: expiresAt.toISOString(), identity, identityAddress, chain };
    }

    async function makeKey({ token }: PageSession, body: object): Promise<string> {
      const answer = await asked('/api/keys', token, { method: 'POST', body: JSON.stringify(body) });
      return ((await answer.json()) as { key: string }).key;
    }

    const open = async (page: Page, view: string, path: string) => {
      await page.goto(withoutStream(service.url, path));
      await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
    };

    it('show what the API answers to the session', async () => {
      const { page, complaints, requests, close } = await openPage(browser, {}, alice);
      for (const [view, path] of VIEWS.slice(1)) {
        const checked = await checkView(page, service.url, path, view, alice.token);
        expect(checked.values).toBeGreaterThan(8);
      }
      // Only the owner changes keys, so the current answer must equal the shown one.
      const { keys } = (await (await asked('/api/keys', alice.token)).json()) as { keys: Record<string, unknown>[] };
      for (const [index, key] of keys.entries()) {
        for (const [name, value] of Object.entries(key)) {
          const shown = page.locator(`[data-field="/keys/${index}/${name}"]`);
          const marks = await shown.evaluate((element) => ({
            isNull: element.getAttribute('data-null'),
            text:
              element.getAttribute('data-value') ?? element.getAttribute('value') ?? element.getAttribute('datetime'),
          }));
          expect([name, marks]).toEqual([
            name,
            value === null ? { isNull: 'true', text: null } : { isNull: null, text: String(value) },
          ]);
        }
      }
      const elsewhere = requests.filter(
        (request) => !request.url().startsWith(service.url) && !request.url().startsWith('data:'),
      );
      expect(elsewhere).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });

    it('show nothing of another identity, even if it was the reader before', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.addInitScript(
        (text) => sessionStorage.getItem('sessions') ?? sessionStorage.setItem('sessions', text),
        JSON.stringify({ sessions: [alice, bob], reader: alice.token }),
      );
      const main = page.getByRole('main');
      await open(page, 'keys', '/account/keys');
      await main.getByText('bot of alice').waitFor();
      await page.getByRole('link', { name: 'Account', exact: true }).click();
      await main.locator('[data-field="/tier"][data-value="free"]').first().waitFor();
      await main.getByRole('button', { name: `Change to ${bob.identity}` }).click();
      await main.locator('[data-field="/tier"][data-value="pro"]').first().waitFor();
      expect(await main.locator(`[data-value="${address}"]`).count()).toBe(0);
      await page.getByRole('banner').getByText(bob.identity).waitFor();
      await page.getByRole('link', { name: 'Keys', exact: true }).click();
      await main.getByText('bot of bob').waitFor();
      expect(await main.textContent()).not.toContain('alice');
      expect(await main.textContent()).not.toContain(alice.identity);
      await page.getByRole('banner').getByRole('button', { name: 'Log out' }).click();
      await page.locator('main[data-view="login"]').waitFor();
      expect(await page.getByRole('banner').textContent()).not.toContain(alice.identity); // no other identity becomes the reader
      await page.goBack();
      await page.locator('main[data-view="keys"][data-ready="failed"]').waitFor();
      expect(await main.textContent()).not.toMatch(/bot of/);
      await main.getByRole('button', { name: `Go on as ${alice.identity}` }).click();
      await main.getByText('bot of alice').waitFor();
      expect(complaints).toEqual([]);
      await close();
      bob = await sessionOf(BOB);
    });

    it('keep identities of two chains apart, even with the same i-address', async () => {
      const [here, there] = [await sessionOf(address), await sessionOf(address, OTHER_CHAIN)];
      await setTier(service.stores.postgres, { chain: OTHER_CHAIN, identityAddress: address }, 'developer');
      const { page, complaints, close } = await openPage(browser);
      const kept = JSON.stringify({ sessions: [here, there], reader: here.token });
      await page.addInitScript(
        (text) => sessionStorage.getItem('sessions') ?? sessionStorage.setItem('sessions', text),
        kept,
      );
      const [main, banner] = [page.getByRole('main'), page.getByRole('banner')];
      await open(page, 'account', '/account');
      await main.locator(`[data-field="/chain"][data-value="${CHAIN}"]`).waitFor();
      await main.getByRole('button', { name: `Change to ${there.identity}` }).click();
      await main.locator(`[data-field="/chain"][data-value="${OTHER_CHAIN}"]`).waitFor();
      await main.locator('[data-field="/tier"][data-value="developer"]').first().waitFor();
      await banner.getByText(OTHER_CHAIN).first().waitFor();
      await page.getByRole('link', { name: 'Keys', exact: true }).click();
      await page.locator('main[data-view="keys"][data-ready="true"]').waitFor();
      expect(await main.textContent()).not.toMatch(/bot of/);
      await makeKey(there, { name: 'bot of the other chain' });
      await page.reload();
      await main.getByText('bot of the other chain').waitFor();
      await open(page, 'account', '/account');
      await main.getByRole('button', { name: `Change to ${here.identity}` }).click();
      await main.locator(`[data-field="/chain"][data-value="${CHAIN}"]`).waitFor();
      await page.getByRole('link', { name: 'Keys', exact: true }).click();
      await main.getByText('bot of alice').waitFor();
      expect(await main.textContent()).not.toContain('other chain');
      expect(complaints).toEqual([]);
      await close();
    });

    it('report that a session has ended, and remove what they showed', async () => {
      const reader = await sessionOf(address);
      const { page, complaints, close } = await openPage(browser);
      await open(page, 'login', '/login');
      await page.evaluate(
        (text) => sessionStorage.setItem('sessions', text),
        JSON.stringify({ sessions: [reader], reader: reader.token }),
      );
      await open(page, 'keys', '/account/keys');
      await page.getByRole('main').getByText('bot of alice').waitFor();
      expect((await asked('/api/auth/logout', reader.token, { method: 'POST' })).status).toBe(204);
      await page.getByRole('button', { name: 'New secret for bot of alice' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click();
      const ended = page.getByRole('status').filter({ hasText: 'Your session has ended' });
      await ended.waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await page.getByRole('main').textContent()).not.toContain('bot of alice');
      expect(await page.evaluate(() => sessionStorage.getItem('sessions'))).toBeNull();
      await ended.getByRole('link', { name: 'Log in again' }).click();
      await page.locator('main[data-view="login"][data-ready="true"]').waitFor();
      expect(new URL(page.url()).searchParams.get('next')).toMatch(/^\/account\/keys/);
      expect(complaints).toEqual([]);
      await close();
    });

    it('end when their session expires, without any action', async () => {
      const { page, close } = await openPage(
        browser,
        {},
        { ...alice, expiresAt: new Date(Date.now() + LAST_MS).toISOString() },
      );
      await page.clock.install();
      await open(page, 'account', '/account');
      await page
        .getByRole('banner')
        .getByText(/ends in \d+ s/)
        .waitFor();
      await page.clock.fastForward(LAST_MS);
      await page.locator('main[data-view="account"][data-ready="failed"]').waitFor();
      await page.getByText('Your session has ended').waitFor();
      await page.getByRole('banner').getByRole('link', { name: 'Log in' }).waitFor();
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await page.getByText('Your session has ended').waitFor({ state: 'detached' });
      await close();
    });

    it('let the reader copy and save an answer without exposing the token', async () => {
      const { page, complaints, close } = await openPage(
        browser,
        { permissions: ['clipboard-read', 'clipboard-write'], acceptDownloads: true },
        alice,
      );
      await open(page, 'keys', '/account/keys');
      await page.locator('summary[aria-label="Menu of Keys of the identity"]').click();
      for (const [button, part] of [
        ['Copy as curl', '$VERUSTREAM_TOKEN'],
        ['Copy as TypeScript', 'process.env.VERUSTREAM_TOKEN'],
      ] as const) {
        await page.getByRole('button', { name: button }).click();
        const copied = () => page.evaluate(() => navigator.clipboard.readText());
        await expect.poll(copied).toContain(part);
        expect(await copied()).not.toMatch(/vs[st]_/);
      }
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'JSON' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('keys.json');
      expect(await readFile((await download.path()) ?? '', 'utf8')).toBe(
        await (await asked('/api/keys', alice.token)).text(),
      );
      expect(complaints).toEqual([]);
      await close();
    });

    it('show the remaining credits of the identity, also after requests of its programs', async () => {
      const reader = await sessionOf(BOB);
      const key = await makeKey(reader, { name: 'busy' });
      const { page, close } = await openPage(browser, {}, reader);
      await page.goto(`${service.url}/account/keys`); // live, so that the page refreshes
      const meter = page.getByRole('contentinfo').getByText(` of ${PRO_CREDITS.toLocaleString('en-US')} credits`);
      await meter.waitFor();
      for (let n = 0; n < 40; n += 1) expect((await asked(READ, key)).status).toBe(200);
      await page.getByRole('link', { name: 'Account', exact: true }).click();
      const left = async () => Number(/([\d,]+) of/.exec((await meter.textContent()) ?? '')?.[1]?.replaceAll(',', ''));
      await expect.poll(left).toBeLessThanOrEqual(PRO_CREDITS - 40);
      const remaining = page.locator('[data-field="/remaining"]');
      await expect
        .poll(async () => Number(await remaining.getAttribute('value')))
        .toBeLessThanOrEqual(PRO_CREDITS - 40);
      await close();
    });

    it('stay within their budgets', async () => {
      const paths = VIEWS.map(([, path]) => path);
      await checkFirstPaint(browser, service.url, paths, alice);
    });

    it('are accessible in both themes, narrow and wide', async () => {
      await checkAccessibility(browser, service.url, VIEWS, alice);
    });

    describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
      it('have accessible dialogs and forms', async () => {
        const folder = process.env.SCREENSHOTS;
        for (const width of [360, 1440]) {
          const { page, close } = await openPage(
            browser,
            { viewport: { width, height: 900 }, colorScheme, bypassCSP: true },
            alice,
          );
          const check = async (name: string) => {
            const rules = colorScheme === 'light' ? 'all' : 'of colours';
            expect(await seriousViolations(page, `${name} ${width}`, rules)).toEqual([]);
            const widths = await page.evaluate(() =>
              [...document.querySelectorAll('html, dialog')].map(
                (element) => element.scrollWidth - element.clientWidth,
              ),
            );
            expect(Math.max(...widths), name).toBeLessThanOrEqual(0);
            if (folder)
              await page.screenshot({
                path: `${folder}/${name}-${width}-${colorScheme}.png`,
                fullPage: name.startsWith('login'),
              });
          };
          await open(page, 'login', '/login');
          await page.getByRole('textbox', { name: 'Identity' }).fill(address);
          await page.getByRole('button', { name: 'Get a challenge' }).click();
          await page.getByRole('img', { name: 'The message as a QR code' }).waitFor();
          await check('login-challenge');
          await open(page, 'keys', '/account/keys');
          await page.getByRole('button', { name: 'Revoke bot of alice' }).click();
          await check('key-revoke');
          await page.keyboard.press('Escape');
          await page.getByRole('button', { name: 'New key' }).click();
          await check('key-new');
          await page.getByRole('textbox', { name: 'Name' }).fill(`${colorScheme} ${width}`);
          await page.getByRole('button', { name: 'Make it' }).click();
          await page.getByText(/^vst_/).waitFor();
          await check('key-secret');
          await close();
        }
      });
    });
  });
}
