/**
 * Login and API keys in a real Chromium: identities of a generated chain sign with keys that the test has, and secrets stay only where the
 * contract of the page allows them.
 */
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../api/access/sessions.ts';
import type { OwnIdentity } from '../../api/generated-identities.ts';
import { CHAIN, type RunningService } from '../../api/running-service.ts';
import { openPage, type PageSession } from '../watched-page.ts';
import { logIn, tracesOf } from './logged-in.ts';
import { FREE_CREDITS, type OpenedAccount } from './opened-account.ts';

const READ = '/api/market/protocol';

export function loginAndKeys(opened: () => OpenedAccount): void {
  describe('the page of an account', () => {
    let service: Pick<RunningService, 'url' | 'stores'>;
    let browser: Browser;
    let alice: OwnIdentity;
    let bob: OwnIdentity;

    beforeAll(() => {
      ({
        service,
        browser,
        identities: { alice, bob },
      } = opened());
    });

    const asked = (path: string, token: string, init: RequestInit = {}) =>
      fetch(`${service.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });

    async function sessionOf({ address }: OwnIdentity): Promise<PageSession> {
      const { token } = await openSession(service.stores.postgres, { chain: CHAIN, identityAddress: address });
      const { identity, identityAddress, chain, expiresAt } = (await (
        await asked('/api/auth/session', token)
      ).json()) as PageSession;
      return { token, expiresAt, identity, identityAddress, chain };
    }

    const makeKey = async (token: string, name: string) =>
      (await (await asked('/api/keys', token, { method: 'POST', body: JSON.stringify({ name }) })).json()) as {
        id: string;
        key: string;
      };

    const open = (page: Page, address: string) =>
      page.goto(`${service.url}${address}${address.includes('?') ? '&' : '?'}live=0`);
    const ready = (page: Page, view: string) => page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
    const tokenOf = (page: Page): Promise<string> =>
      page.evaluate(() => JSON.parse(sessionStorage.getItem('sessions') ?? '{}').reader);

    it('leads from a login to a key that is shown once, counted, and then forgotten', async () => {
      const { page, complaints, requests, close } = await openPage(browser);
      const answers: Promise<readonly [url: string, text: string]>[] = [];
      page.on('response', (answer) => {
        if (answer.url().includes('/api/'))
          answers.push(
            answer.text().then(
              (text) => [answer.url(), text],
              () => ['', ''],
            ),
          );
      });
      await open(page, '/account/keys');
      await page
        .locator('main[data-view="keys"][data-ready="failed"] [role=alert][data-code="session_required"]')
        .waitFor();
      await page.getByRole('main').getByRole('link', { name: 'Log in' }).click();
      await ready(page, 'login');
      await logIn(page, alice, (signature) => JSON.stringify({ hash: '00', signature }, null, 2));
      await ready(page, 'keys');
      expect(new URL(page.url()).pathname).toBe('/account/keys');
      await page.getByRole('banner').getByText('ends in 23 h').waitFor();

      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog', { name: 'New key' });
      await dialog.getByRole('textbox', { name: 'Name' }).fill('bot of alice');
      await dialog.getByRole('spinbutton', { name: 'Credits a minute of its own' }).fill('50');
      await dialog.getByRole('button', { name: 'Make it' }).click();
      const key = (await dialog.getByText(/^vst_/).textContent()) ?? '';
      expect(key).toMatch(/^vst_[0-9a-f]{16}_[0-9a-f]{64}$/);
      expect(await dialog.textContent()).not.toContain(await tokenOf(page));
      expect((await page.content()).split(key)).toHaveLength(2); // once
      for (let n = 0; n < 7; n += 1) expect((await asked(READ, key)).status).toBe(200);
      await dialog.getByRole('button', { name: 'I have it' }).click();
      const row = page.getByRole('row', { name: 'bot of alice' });
      expect(await row.locator('data[data-field$="/creditsPerMinute"]').getAttribute('value')).toBe('50');

      const secret = key.slice(-64);
      expect(await tracesOf(page, requests, [secret])).toEqual([]);
      await page.reload();
      await ready(page, 'keys');
      expect(await tracesOf(page, requests, [secret])).toEqual([]);
      const token = await tokenOf(page);
      expect(await tracesOf(page, requests, [token])).toEqual(['sessionStorage']);
      const shownBy = (await Promise.all(answers)).filter(([, text]) => text.includes(secret));
      expect(shownBy.map(([url]) => new URL(url).pathname)).toEqual(['/api/keys']);

      await expect
        .poll(
          async () => {
            const usage = (await (await asked(`/api/usage?key=${key.split('_')[1]}`, token)).json()) as {
              results: { credits: number }[];
            };
            return usage.results.reduce((sum, { credits }) => sum + credits, 0);
          },
          { timeout: 20_000 },
        )
        .toBe(7);
      await page
        .getByRole('button', { name: 'Menu of Keys' })
        .or(page.locator('summary[aria-label="Menu of Keys of the identity"]'))
        .click();
      await page.getByRole('button', { name: 'Refresh' }).click();
      await row.locator('time[data-field$="/lastUsedAt"]').waitFor();

      await page.getByRole('banner').getByRole('button', { name: 'Log out' }).click();
      await ready(page, 'login');
      expect(await page.evaluate(() => sessionStorage.getItem('sessions'))).toBeNull();
      await expect.poll(async () => (await asked('/api/auth/session', token)).status).toBe(401);
      expect((await asked(READ, key)).status).toBe(200); // keys outlive the session
      await page.goBack();
      await page.locator('main[data-view="keys"][data-ready="failed"]').waitFor();
      expect(await page.getByRole('main').textContent()).not.toContain('bot of alice');
      expect(complaints).toEqual([]);
      await close();
    });

    it('replaces the secret of a key, and revokes the key', async () => {
      const reader = await sessionOf(alice);
      const { key } = await makeKey(reader.token, 'turning');
      const { page, complaints, requests, close } = await openPage(browser, {}, reader);
      await open(page, '/account/keys');
      await page.getByRole('button', { name: 'New secret for turning' }).click();
      const dialog = page.getByRole('dialog', { name: 'New secret for turning' });
      await dialog.getByRole('button', { name: 'Make a new secret' }).click();
      const again = (await dialog.getByText(/^vst_/).textContent()) ?? '';
      expect(again.slice(0, 20)).toBe(key.slice(0, 20));
      expect(again).not.toBe(key);
      await expect
        .poll(async () => [(await asked(READ, key)).status, (await asked(READ, again)).status])
        .toEqual([401, 200]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await tracesOf(page, requests, [again.slice(-64)])).toEqual([]);
      await page.getByRole('row', { name: 'turning' }).locator('time[data-field$="/regeneratedAt"]').waitFor();
      await page.getByRole('button', { name: 'Revoke turning' }).click();
      const { promise: pressedTwice, resolve: proceed } = Promise.withResolvers<void>();
      let revocations = 0;
      await page.route('**/api/keys/*', async (route) => {
        revocations += 1;
        await pressedTwice;
        await route.continue();
      });
      const revoke = page.getByRole('dialog', { name: 'Revoke turning' }).getByRole('button', { name: 'Revoke' });
      await revoke.click();
      await revoke.click();
      proceed();
      await page.getByRole('row', { name: 'turning' }).waitFor({ state: 'detached' });
      expect(revocations).toBe(1);
      await expect.poll(async () => (await asked(READ, again)).status).toBe(401);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('new-key');
      expect(complaints).toEqual([]);
      await close();
    });

    it('explains why a key cannot be made', async () => {
      const reader = await sessionOf(alice);
      const { page, close } = await openPage(browser, {}, reader);
      await open(page, '/account/keys');
      await ready(page, 'keys'); // the list contains the maximum credits of a key
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog', { name: 'New key' });
      const credits = dialog.getByRole('spinbutton');
      expect(await credits.getAttribute('max')).toBe(String(FREE_CREDITS));
      await credits.evaluate((field) => field.removeAttribute('max'));
      await dialog.getByRole('textbox', { name: 'Name' }).fill('too much');
      await credits.fill(String(FREE_CREDITS + 1));
      await dialog.getByRole('button', { name: 'Make it' }).click();
      await dialog
        .locator('[role=alert][data-code="invalid_parameter"]')
        .getByText('creditsPerMinute')
        .first()
        .waitFor();
      expect(await page.getByRole('row', { name: 'too much' }).count()).toBe(0);
      await close();
    });

    it('keeps the keyboard focus inside a dialog, and restores it afterwards', async () => {
      const { page, close } = await openPage(browser, {}, await sessionOf(alice));
      await open(page, '/account/keys');
      await ready(page, 'keys');
      const opener = page.getByRole('button', { name: 'New key' });
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'New key' }).waitFor();
      for (let presses = 0; presses < 12; presses += 1) {
        const [where, isInside] = await page.evaluate(() => {
          const { activeElement: element } = document;
          // The browser's own toolbar may have the focus between the last and the first element.
          return [element?.outerHTML.slice(0, 60), element === document.body || element?.closest('dialog') !== null];
        });
        expect([where, isInside]).toEqual([where, true]);
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
      await close();
    });

    it('refuses a challenge for good after a wrong signature, and accepts two of three keys', async () => {
      const { page, complaints, close } = await openPage(browser);
      await open(page, '/login');
      await ready(page, 'login');
      await logIn(page, { address: bob.address, sign: (message) => alice.sign(message) });
      await page.locator('[role=alert][data-code="login_refused"]').waitFor();
      expect(await page.getByRole('main').getByRole('button', { name: 'Log in' }).isDisabled()).toBe(true);
      await logIn(page, bob);
      await ready(page, 'account');
      await page.getByRole('main').locator(`[data-field="/identityAddress"][data-value="${bob.address}"]`).waitFor();
      expect(complaints).toEqual([]);
      await close();
    });

    it('lets readers log in whose clock is ahead of the service', async () => {
      const { page, close } = await openPage(browser);
      await page.clock.install({ time: Date.now() + 3_600_000 });
      await open(page, '/login');
      await ready(page, 'login');
      await logIn(page, alice);
      await ready(page, 'account');
      await close();
    });

    it('opens only its own views after a login', async () => {
      const { page, close } = await openPage(browser);
      for (const next of ['https://evil.example/account', '//evil.example/', '/api/keys', 'javascript:alert(1)']) {
        await open(page, `/login?next=${encodeURIComponent(next)}`);
        await ready(page, 'login');
        await logIn(page, alice);
        await ready(page, 'account');
        expect(new URL(page.url()).pathname).toBe('/account');
      }
      await close();
    });
  });
}
