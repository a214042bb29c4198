/**
 * The page for those who log in, in a real Chromium: identities of a made-up chain sign with keys that the test holds, and nothing
 * of a secret stays anywhere but where the contract of the page allows it.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageSource } from '../../web/build/page-source.ts';
import { startBrowser, whyNoBrowser } from '../api/browser.ts';
import { type IdentityDaemon, type OwnIdentity, startIdentityDaemon } from '../api/generated-identities.ts';
import { type RunningService, startServiceOn } from '../api/running-service.ts';
import { SEED } from '../setup/seed.ts';
import { openPage } from './watched-page.ts';

if (whyNoBrowser) it('the page of an account', ({ skip }) => skip(String(whyNoBrowser)));

describe.skipIf(whyNoBrowser !== null)('the page of an account', () => {
  let node: IdentityDaemon;
  let service: RunningService<IdentityDaemon>;
  let browser: Browser;
  let alice: OwnIdentity;

  beforeAll(async () => {
    await pageSource.build(); // kept, so that the service has it at once
    node = await startIdentityDaemon(SEED, [{}, { keys: 3, minimum: 2 }]);
    const [first] = node.identities;
    if (!first) throw new Error('the chain has too few identities');
    alice = first;
    service = await startServiceOn(node, { page: pageSource });
    browser = await startBrowser();
    await service.settled();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function logIn(page: Page, identity: OwnIdentity): Promise<void> {
    await page.getByRole('textbox', { name: 'Identity' }).fill(identity.address);
    await page.getByRole('button', { name: 'Get a challenge' }).click();
    const command = await page.getByRole('textbox', { name: 'Command' }).inputValue();
    const message = /"([^"]*)"$/.exec(command)?.[1] ?? '';
    const signature = await identity.sign(message);
    await page.getByRole('textbox', { name: 'Signature' }).fill(JSON.stringify({ hash: '00', signature }, null, 2));
    await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
  }

  it('leads to the login and back, and forgets on logout', async () => {
    const { page, complaints, close } = await openPage(browser);
    await page.goto(`${service.url}/account/keys?live=0`);
    await page.locator('main[data-view="keys"] [role=alert][data-code="session_required"]').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Log in' }).click();
    await page.locator('main[data-view="login"][data-ready="true"]').waitFor();
    await logIn(page, alice);
    await page.locator('main[data-view="keys"][data-ready="true"]').waitFor();
    expect(new URL(page.url()).pathname).toBe('/account/keys');
    await page.getByRole('banner').getByText('ends in 23 h').waitFor();
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await page.locator('main[data-view="account"][data-ready="true"]').waitFor();
    const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem('sessions') ?? 'null').reader);
    await page.getByRole('banner').getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('banner').getByRole('link', { name: 'Log in' }).waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('sessions'))).toBeNull();
    const after = () => fetch(`${service.url}/api/auth/session`, { headers: { authorization: `Bearer ${token}` } });
    await expect.poll(async () => (await after()).status).toBe(401);
    expect(complaints).toEqual([]);
    await close();
  });
});
