/**
 * Webhooks in a real Chromium: from the login of an identity to a delivery that the receiver shown on the page verifies, and the owner's later
 * actions. SCREENSHOTS names a folder for screenshots.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../../api/access/key-store.ts';
import { openSession } from '../../../api/access/sessions.ts';
import type { IdentityDaemon, OwnIdentity } from '../../api/generated-identities.ts';
import { CHAIN, type RunningService } from '../../api/running-service.ts';
import { ROOT } from '../../house/source-files.ts';
import { type Receiver, startReceiver } from '../../support/api/webhooks/receiver.ts';
import { pythonPackage, STANDARD_WEBHOOKS } from '../../support/infra/python-packages.ts';
import { reservePort } from '../../support/infra/reserved-port.ts';
import { checkAccessibility } from '../accessibility.ts';
import { seriousViolations } from '../axe.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { checkPanels, checkView } from '../generic-check.ts';
import { openPage, type PageSession } from '../watched-page.ts';
import { logIn } from './logged-in.ts';
import type { OpenedAccount } from './opened-account.ts';

const LIST = '/webhooks';

export function webhooksOnThePage(opened: () => OpenedAccount): void {
  describe('webhooks on the page', () => {
    const folder = mkdtempSync(join(tmpdir(), 'verustream-receiver-'));
    const running = new Set<ChildProcess>();
    let service: RunningService<IdentityDaemon>;
    let node: IdentityDaemon;
    let browser: Browser;
    let owner: OwnIdentity;
    let reader: PageSession;
    let receiver: Receiver;

    beforeAll(async () => {
      ({ service, browser } = opened());
      ({ node } = service);
      owner = opened().identities.subscriber;
      receiver = await startReceiver();
      const holder = { chain: CHAIN, identityAddress: owner.address };
      await setTier(service.stores.postgres, holder, 'pro');
      const { token, expiresAt } = await openSession(service.stores.postgres, holder);
      reader = { token, expiresAt: expiresAt.toISOString(), identity: 'owner@', ...holder };
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    });

    afterAll(async () => {
      for (const child of running) child.kill('SIGKILL');
      await receiver?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const dialog = (page: Page) => page.getByRole('dialog');
    const secretOf = (page: Page) => dialog(page).getByTestId('secret').textContent();
    const deliveries = (page: Page) => page.getByRole('region', { name: 'Deliveries' });

    async function ask(path: string, method = 'GET', body?: object) {
      const answer = await fetch(service.url + path, {
        method,
        headers: { authorization: `Bearer ${reader.token}` },
        ...(body && { body: JSON.stringify(body) }),
      });
      return answer.json();
    }

    /** Saves and runs the shown program, as a reader would. */
    function run(name: 'webhook-receiver.ts' | 'webhook_receiver.py', code: string, secret: string) {
      const file = join(folder, name);
      writeFileSync(file, code);
      const [command, flags] = name.endsWith('.py')
        ? (['python3', []] as const)
        : ([process.execPath, ['--disable-warning=ExperimentalWarning']] as const);
      const child = spawn(command, [...flags, file], {
        cwd: folder,
        env: {
          ...process.env,
          WEBHOOK_SECRET: secret,
          ...(command === 'python3' && { PYTHONPATH: pythonPackage(STANDARD_WEBHOOKS) }),
        },
      });
      running.add(child);
      let out = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          out += chunk;
        });
      }
      const stop = async () => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
      return { said: () => out, stop };
    }

    it('leads from a login to a delivery that the shown receiver verifies', async () => {
      const { page, complaints, close } = await openPage(browser);
      const { port } = await reservePort();
      await page.goto(`${service.url}${LIST}?live=0`);
      await page.getByRole('main').getByRole('link', { name: 'Log in' }).click();
      await page.locator('main[data-view="login"][data-ready="true"]').waitFor();
      await logIn(page, owner);
      await page.locator('main[data-view="webhooks"][data-ready="true"]').waitFor();
      await page.getByRole('button', { name: 'New webhook' }).click();
      await dialog(page).getByLabel('Receiver').fill(`http://127.0.0.1:${port}/hooks`);
      await dialog(page)
        .getByRole('checkbox', { name: /^block / })
        .check();
      await dialog(page).getByRole('button', { name: 'Make it' }).click();
      const secret = (await secretOf(page)) ?? '';
      expect(secret).toMatch(/^whsec_/);
      await dialog(page).getByRole('button', { name: 'I have it' }).click();
      await page.locator('main[data-view="webhook"][data-ready="true"]').waitFor();
      const id = page.url().split('/').at(-1)?.split('?')[0] ?? '';
      const code = (await page.getByTestId('receiver').textContent()) ?? '';
      expect(code).toContain(`A receiver of webhook ${id} (block) at http://127.0.0.1:${port}/hooks:`);
      const program = run('webhook-receiver.ts', code, secret);
      await expect.poll(program.said).toContain(`listening on ${port}`);
      await page.getByRole('button', { name: 'Send a test' }).click();
      await deliveries(page).locator('[data-field$="/state"][data-value="delivered"]').waitFor();
      await expect.poll(program.said).toMatch(/^test {2}\{"webhookId":/m);
      node.grow(1);
      await service.settled();
      await expect.poll(program.said).toMatch(new RegExp(`^block ${CHAIN} .*"height":${node.height}`, 'm'));
      await program.stop();
      await page.getByRole('button', { name: 'Python', exact: true }).click();
      const python = (await page.getByTestId('receiver').textContent()) ?? '';
      expect(python).toContain(id);
      const inPython = run('webhook_receiver.py', python, secret);
      await expect.poll(inPython.said).toContain(`listening on ${port}`);
      await page.getByRole('button', { name: 'Send a test' }).click();
      await expect.poll(inPython.said).toMatch(/^test {2}\{"webhookId":/m);
      await checkView(page, service.url, `${LIST}/${id}`, 'webhook', await tokenOf(page));
      expect(await page.content()).not.toContain(secret); // shown once
      await page.reload();
      await page.getByRole('region', { name: 'Webhook', exact: true }).waitFor();
      expect(await page.content()).not.toContain(secret);
      expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain(
        secret,
      );
      expect(complaints).toEqual([]);
      await close();
    });

    const tokenOf = (page: Page) =>
      page.evaluate((): string => JSON.parse(sessionStorage.getItem('sessions') ?? '{}').reader);

    it('registers every kind and filter that the form offers', async () => {
      const { page, close } = await openPage(browser, {}, reader);
      await page.goto(`${service.url}${LIST}?live=0`);
      await page.getByRole('button', { name: 'New webhook' }).click();
      await dialog(page).getByLabel('Receiver').fill(receiver.url);
      await dialog(page).getByLabel('Description').fill('all of it');
      for (const box of await dialog(page)
        .getByRole('group', { name: 'Send a message when' })
        .getByRole('checkbox')
        .all())
        await box.check();
      await dialog(page).getByRole('textbox', { name: 'Currency 1' }).fill('VRSCTEST');
      await dialog(page).getByRole('textbox', { name: 'USD 1' }).fill('1.5');
      await dialog(page).getByLabel('Direction 1').selectOption('above');
      await dialog(page).getByLabel('Currencies').fill('VRSCTEST, iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg');
      await dialog(page).getByLabel('Least USD value').fill('100.25');
      await dialog(page).getByLabel('Confirmations').fill('3');
      await dialog(page).getByRole('checkbox', { name: CHAIN }).check();
      await dialog(page).getByRole('button', { name: 'Make it' }).click();
      await dialog(page).locator('[role=alert][data-code="invalid_parameter"]').waitFor(); // address.activity needs an address
      expect(await dialog(page).getByLabel('Addresses').getAttribute('aria-invalid')).toBe('true');
      await dialog(page).getByLabel('Addresses').fill(owner.address);
      await dialog(page).getByRole('button', { name: 'Make it' }).click();
      await secretOf(page);
      const { webhooks } = await ask('/api/webhooks');
      expect(webhooks.find(({ description }: { description: string }) => description === 'all of it')).toMatchObject({
        url: receiver.url,
        events: ['block', 'reorg', 'address.activity', 'identity.updated', 'conversion.completed', 'price.threshold'],
        chains: [CHAIN],
        filter: {
          currency: ['VRSCTEST', 'iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg'],
          address: owner.address,
          minUsd: 100.25,
        },
        thresholds: [{ currency: 'VRSCTEST', usd: 1.5, direction: 'above' }],
        confirmations: 3,
      });
      await close();
    });

    it('changes the events and the receiver of a webhook, starting from its current values', async () => {
      const before = { currency: ['VRSCTEST', owner.address], minUsd: '7.25', address: owner.address };
      const { id } = await ask('/api/webhooks', 'POST', {
        url: receiver.url,
        description: 'before',
        events: ['address.activity', 'price.threshold'],
        chains: [CHAIN],
        filter: before,
        thresholds: [{ currency: 'VRSCTEST', usd: '2.5', direction: 'below' }],
        confirmations: 2,
      });
      const { page, complaints, close } = await openPage(browser, {}, reader);
      await page.goto(`${service.url}${LIST}/${id}?live=0`);
      const change = () => page.getByRole('button', { name: 'Change', exact: true }).click();
      const written = async () => {
        const { url, description, events, chains, filter, thresholds, confirmations } = await ask(
          `/api/webhooks/${id}`,
        );
        return { url, description, events, chains, filter, thresholds, confirmations };
      };
      const unchanged = await written();
      await change();
      await dialog(page).getByRole('button', { name: 'Change it' }).click(); // without changes
      await dialog(page).waitFor({ state: 'detached' });
      expect(await written()).toEqual(unchanged);

      await change();
      expect(await dialog(page).getByRole('textbox', { name: 'USD 1' }).inputValue()).toBe('2.5');
      await dialog(page).getByLabel('Addresses').fill('');
      await dialog(page).getByRole('button', { name: 'Change it' }).click();
      await dialog(page).locator('[role=alert][data-code="invalid_parameter"]').waitFor(); // address.activity needs an address
      expect(await written()).toEqual(unchanged);
      await dialog(page)
        .getByRole('checkbox', { name: /^address.activity / })
        .uncheck();
      await dialog(page)
        .getByRole('checkbox', { name: /^price.threshold / })
        .uncheck();
      await dialog(page)
        .getByRole('checkbox', { name: /^reorg / })
        .check();
      await dialog(page).getByLabel('Receiver').fill(`${receiver.url}/elsewhere`);
      await dialog(page).getByLabel('Description').fill('');
      await dialog(page).getByLabel('Least USD value').fill('0.5');
      await dialog(page).getByLabel('Confirmations').fill('');
      await dialog(page).getByRole('checkbox', { name: CHAIN }).uncheck();
      await dialog(page).getByRole('button', { name: 'Change it' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      expect(await written()).toEqual({
        url: `${receiver.url}/elsewhere`,
        description: '',
        events: ['reorg'],
        chains: null,
        filter: { currency: before.currency, minUsd: 0.5 },
        thresholds: [],
        confirmations: 0,
      });
      await page.locator('[data-field="/url"][data-value$="/elsewhere"]').waitFor();
      await checkPanels(page, service.url, `${LIST}/${id}`, reader.token);
      expect(complaints).toEqual([]);
      await close();
    });

    it('pauses, rotates the secret, shows failed deliveries, and redelivers one or all of them', async () => {
      receiver.behave((response) => void response.writeHead(500).end('<b>not yet</b>'));
      const { id, secret } = await ask('/api/webhooks', 'POST', { url: receiver.url, events: ['reorg'] });
      const { page, complaints, close } = await openPage(browser, {}, reader);
      await page.goto(`${service.url}${LIST}/${id}?live=0`);
      const state = page.getByRole('region', { name: 'Webhook', exact: true });
      await state.getByRole('button', { name: 'Pause' }).click();
      await state.locator('[data-field="/enabled"][data-value="false"]').waitFor();
      await state.getByRole('button', { name: 'Go on' }).click();
      await state.locator('[data-field="/enabled"][data-value="true"]').waitFor();
      await state.getByRole('button', { name: 'New secret' }).click();
      await dialog(page).getByRole('button', { name: 'Make a new secret' }).click();
      const rotated = await secretOf(page);
      expect(rotated).toMatch(/^whsec_/);
      expect(rotated).not.toBe(secret);
      await dialog(page).getByRole('button', { name: 'I have it' }).click();
      const failed = deliveries(page).locator('[data-field$="/state"][data-value="failed"]');
      for (const count of [1, 2]) {
        await state.getByRole('button', { name: 'Send a test' }).click();
        await expect.poll(() => failed.count()).toBe(count);
      }
      await deliveries(page)
        .getByRole('button', { name: /^Show test / })
        .first()
        .click();
      const one = page.getByRole('region', { name: 'Delivery', exact: true });
      await one.getByText('<b>not yet</b>').waitFor(); // as text, not as markup
      expect(await one.locator('[data-field="/status"]').getAttribute('value')).toBe('500');
      expect(await one.locator('[data-field="/body"]').getAttribute('data-value')).toContain('"type":"test"');
      await checkPanels(page, service.url, `${LIST}/${id}`, reader.token);
      receiver.behave((response) => void response.writeHead(204).end());
      await one.getByRole('button', { name: 'Send this one again' }).click();
      await one.locator('[data-field="/state"][data-value="delivered"]').waitFor();
      await deliveries(page).getByRole('button', { name: 'Send all failed ones again' }).click();
      await deliveries(page).getByText('1 failed deliveries are sent again.').waitFor();
      await expect.poll(() => failed.count()).toBe(0);
      const shown = new URL(page.url()).searchParams.get('delivery');
      await page.goto(`${service.url}${LIST}/${id}?live=0&before=${shown}`);
      await deliveries(page).getByRole('link', { name: 'Newest' }).waitFor();
      await deliveries(page).getByLabel('state').selectOption('delivered');
      const { searchParams } = new URL(page.url());
      expect([searchParams.get('state'), searchParams.get('before')]).toEqual(['delivered', null]);
      await state.getByRole('button', { name: 'Delete' }).click();
      await dialog(page).getByRole('button', { name: 'Delete it' }).click();
      await page.locator('main[data-view="webhooks"][data-ready="true"]').waitFor();
      expect((await ask(`/api/webhooks/${id}`)).code).toBe('not_found');
      expect(complaints).toEqual([]);
      await close();
    });

    it('stays within its budgets', async () => {
      const { webhooks } = await ask('/api/webhooks');
      await checkFirstPaint(browser, service.url, [LIST, `${LIST}/${webhooks[0].id}`], reader);
    });

    it('is accessible in both themes, narrow and wide', async () => {
      const { webhooks } = await ask('/api/webhooks');
      const views = [
        ['webhooks', LIST],
        ['webhook', `${LIST}/${webhooks[0].id}`],
      ] as const;
      await checkAccessibility(browser, service.url, views, reader);
      const folderOfShots = process.env.SCREENSHOTS;
      for (const width of [360, 1440]) {
        const options = { viewport: { width, height: 900 }, bypassCSP: true };
        const { page, close } = await openPage(browser, options, reader);
        await page.goto(`${service.url}${LIST}?live=0`);
        await page.getByRole('button', { name: 'New webhook' }).click();
        await dialog(page)
          .getByRole('checkbox', { name: /^price.threshold / })
          .check();
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const rules = colorScheme === 'light' ? 'all' : 'of colours';
          expect(await seriousViolations(page, `form ${width} ${colorScheme}`, rules)).toEqual([]);
          const path = `${folderOfShots}/webhook-form-${width}-${colorScheme}.png`;
          if (folderOfShots) await page.screenshot({ path });
        }
        await close();
      }
    });
  });
}
