/** Mempool transactions on every view that shows them: from waiting to settled, without a reload. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pageSource } from '../../../web/build/page-source.ts';
import { CHAIN, type RunningService, startServiceOn } from '../../api/running-service.ts';
import type { LooseJson } from '../../api/truth.ts';
import { checkAccessibility } from '../accessibility.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { checkPanels, checkView } from '../generic-check.ts';
import type { Opened } from '../opened-page.ts';
import { rivalOf, startWaitingDaemon, type WaitingDaemon } from '../waiting-daemon.ts';
import { openPage, type WatchedPage } from '../watched-page.ts';

/** The next block contains twelve conversions and an update of bob@. */
const START = 845;
const BOB = 'i3bCS2hfQXktHXHmXEAxKPeby5cb6Px6Le';
const HOSTILE = '<img src=x onerror=alert(1)></script>\u202Etxt.exe\u200B';
const idOf = (digit: string) => digit.repeat(64);
const [RIVAL, HOSTILE_UPDATE, REPLACEMENT, EXPIRING] = ['a', 'b', 'c', 'd'].map(idOf) as [
  string,
  string,
  string,
  string,
];

export function waitingTransactions(opened: () => Opened): void {
  describe('the mempool on the page', () => {
    let service: RunningService<WaitingDaemon>;
    let browser: Browser;
    /** Transactions of the next block: one that it will contain, one with a rival that spends the same coins, and one that is replaced. */
    let [mined, rivalled, replaced]: [LooseJson, LooseJson, LooseJson] = [null, null, null];
    let sender = '';

    beforeAll(async () => {
      ({ browser } = opened());
      service = await startServiceOn(await startWaitingDaemon(START), { page: pageSource });
      await service.settled(true);
      const { next } = service.node;
      [mined, rivalled, replaced] = next.filter(({ vout }) => vout[0].scriptPubKey.reservetransfer).slice(1, 4) as [
        LooseJson,
        LooseJson,
        LooseJson,
      ];
      const update = next.find(({ vout }) => vout[0].scriptPubKey.identityprimary?.name === 'bob');
      service.node.put(mined);
      service.node.put(replaced);
      service.node.put(rivalOf(rivalled, RIVAL));
      service.node.put(
        rivalOf(update, HOSTILE_UPDATE, ({ vout }) => {
          const { identityprimary } = vout[0].scriptPubKey;
          identityprimary.name = HOSTILE;
          identityprimary.contentmultimap = { iD1rWQaBBHZU14FRYkBUguwfjZHDVatGXG: [HOSTILE, 'javascript:alert(1)'] };
        }),
      );
      await waitingAre(mined.txid, replaced.txid, RIVAL, HOSTILE_UPDATE);
      const { addresses } = (await listed()).find(({ txid }) => txid === mined.txid) as Listed;
      sender = addresses.find(({ net }) => net < 0)?.address ?? '';
    });

    afterAll(() => service?.stop());

    interface Listed {
      readonly txid: string;
      readonly addresses: readonly { readonly address: string; readonly net: number }[];
    }

    const answer = async <Answer>(path: string): Promise<Answer> => (await fetch(`${service.url}${path}`)).json();

    const listed = async () => (await answer<{ results: readonly Listed[] }>('/api/mempool/')).results;

    const waitingAre = (...txids: readonly string[]) =>
      vi.waitFor(async () => expect((await listed()).map(({ txid }) => txid).sort()).toEqual([...txids].sort()), {
        timeout: 30_000,
      });

    const addresses = () => ({
      tx: `/${CHAIN}/tx/${mined.txid}`,
      conversion: `/${CHAIN}/conversion/${mined.txid}/0`,
      address: `/${CHAIN}/address/${sender}`,
      identity: `/${CHAIN}/identity/bob@`,
    });

    const state = (within: Page | Locator, value: string) => within.locator(`[data-state="${value}"]`);

    it('shows waiting transactions as the API returns them, marked as unconfirmed', async () => {
      const { page, complaints, close } = await openPage(browser);
      const all = [
        ...Object.entries(addresses()),
        ['tx', `/${CHAIN}/tx/${HOSTILE_UPDATE}`],
        ['tx', `/${CHAIN}/tx/${RIVAL}`],
      ] as const;
      for (const [view, address] of all) {
        const { pointers } = await checkView(page, service.url, address, view);
        expect(
          [...pointers].some((pointer) => pointer.includes('/unconfirmed/')),
          address,
        ).toBe(true);
        expect(await page.getByText('unconfirmed', { exact: true }).count(), address).toBeGreaterThan(0);
      }
      await page.goto(`${service.url}/?live=0`);
      await page.getByText('As the API lists it').click();
      await page.locator('[data-item="/results/3"]').waitFor();
      await checkPanels(page, service.url, '/');
      expect(complaints).toEqual([]);
      await close();
    });

    it('shows hostile text of a waiting transaction inert', async () => {
      for (const address of [`/${CHAIN}/tx/${HOSTILE_UPDATE}`, `/${CHAIN}/identity/bob@`, '/']) {
        const { page, complaints, requests, close } = await openPage(browser, {
          viewport: { width: 360, height: 800 },
        });
        page.on('dialog', () => complaints.push('a dialog'));
        await page.goto(`${service.url}${address}`);
        await page.locator('main[data-ready=true]').waitFor();
        await page.getByText('onerror=alert(1)').first().waitFor({ state: 'attached' });
        expect(await page.locator('main img, main [onerror]').count()).toBe(0);
        expect(await page.locator('main a[href^="javascript"]').count()).toBe(0);
        expect((await page.locator('main').textContent()) ?? '').not.toMatch(/[\u202E\u200B]/);
        const [wide, wideMost] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          document.documentElement.clientWidth,
        ]);
        expect(wide).toBeLessThanOrEqual(wideMost ?? 0);
        expect(requests.filter((request) => !request.url().startsWith(service.url))).toEqual([]);
        expect(complaints).toEqual([]);
        await close();
      }
    });

    it('is accessible in both themes, narrow and wide', async () => {
      const views = Object.entries(addresses());
      await checkAccessibility(browser, service.url, [...views, ['live', '/']]);
    });

    it('stays within the budget of a first paint', async () => {
      await checkFirstPaint(browser, service.url, [...Object.values(addresses()), '/']);
    });

    describe('in open tabs', () => {
      const tabs: Record<string, WatchedPage> = {};
      const tab = (name: string): Page => tabs[name]?.page as Page;

      beforeAll(async () => {
        const opened = {
          live: '/',
          ...addresses(),
          lost: `/${CHAIN}/conversion/${RIVAL}/0`,
          lostTransaction: `/${CHAIN}/tx/${RIVAL}`,
          replaced: `/${CHAIN}/tx/${replaced.txid}`,
          later: `/${CHAIN}/tx/${EXPIRING}`,
        };
        for (const [name, address] of Object.entries(opened)) {
          const watched = await openPage(browser);
          tabs[name] = watched;
          await watched.page.goto(`${service.url}${address}`);
          await watched.page.evaluate(() => Object.assign(window, { isSame: true }));
          await watched.page.locator('main[data-ready][data-stream=live]').waitFor();
        }
      });

      afterAll(async () => {
        for (const { close } of Object.values(tabs)) await close();
      });

      const row = (txid: string) => tab('live').locator(`[aria-label="Mempool of ${CHAIN}"] [data-txid="${txid}"]`);
      const request = (name: string) => tab(name).locator('[data-testid=flow] > [data-stage=request]');
      const banner = (name: string) => tab(name).getByTestId('unconfirmed');

      const inAddress = (txid: string, value: string) =>
        tab('address').locator(`[data-txid="${txid}"][data-state="${value}"]`);
      const inIdentity = (value: string) =>
        tab('identity').locator(`[data-txid="${HOSTILE_UPDATE}"][data-state="${value}"]`);

      /** SCREENSHOTS names a folder for screenshots of the outcomes. */
      async function photograph(): Promise<void> {
        const folder = process.env.SCREENSHOTS;
        if (!folder) return;
        for (const name of ['live', 'tx', 'lost', 'address', 'identity']) {
          for (const colorScheme of ['light', 'dark'] as const) {
            await tab(name).emulateMedia({ colorScheme });
            for (const width of [360, 1440]) {
              await tab(name).setViewportSize({ width, height: 900 });
              await tab(name).screenshot({ path: `${folder}/after-${name}-${width}-${colorScheme}.png` });
            }
          }
        }
      }

      it('a transaction waits', async () => {
        for (const txid of [mined.txid, replaced.txid, RIVAL, HOSTILE_UPDATE])
          await row(txid)
            .and(state(tab('live'), 'waiting'))
            .waitFor();
        for (const name of ['conversion', 'lost'])
          await request(name)
            .and(state(tab(name), 'waiting'))
            .waitFor();
        for (const name of ['tx', 'conversion', 'lost', 'replaced'])
          await banner(name)
            .and(state(tab(name), 'waiting'))
            .waitFor();
        await inAddress(mined.txid, 'waiting').waitFor();
        await inIdentity('waiting').waitFor();
        await tab('later').locator('main[data-ready=not-found]').waitFor();
      });

      it('one is replaced, and another one arrives', async () => {
        service.node.put(rivalOf(replaced, REPLACEMENT));
        service.node.put(
          rivalOf(mined, EXPIRING, (tx) => {
            tx.vin = [{ ...tx.vin[0], txid: idOf('e') }];
            tx.expiryheight = START + 1;
          }),
        );
        await row(replaced.txid)
          .and(state(tab('live'), 'replaced'))
          .waitFor();
        await row(REPLACEMENT)
          .and(state(tab('live'), 'waiting'))
          .waitFor();
        await banner('replaced')
          .and(state(tab('replaced'), 'replaced'))
          .waitFor();
        expect(await banner('replaced').locator('a').getAttribute('href')).toBe(`/${CHAIN}/tx/${REPLACEMENT}`);
        await tab('later').locator('main[data-ready=true]').waitFor();
        await banner('later')
          .and(state(tab('later'), 'waiting'))
          .waitFor();
      });

      it('a block settles them: mined, conflicting or expired', async () => {
        service.node.mine();
        for (const [txid, reason] of [
          [mined.txid, 'mined'],
          [RIVAL, 'conflicting'],
          [HOSTILE_UPDATE, 'conflicting'],
          [EXPIRING, 'expired'],
        ] as const) {
          await row(txid)
            .and(state(tab('live'), reason))
            .waitFor();
        }
        await banner('tx')
          .and(state(tab('tx'), 'mined'))
          .waitFor();
        await tab('tx')
          .locator(`[data-field="/height"][value="${START + 1}"]`)
          .waitFor();
        await request('conversion')
          .and(state(tab('conversion'), 'done'))
          .waitFor();
        await tab('conversion').locator('[data-stage=export][data-state=waiting]').waitFor();
        await request('lost')
          .and(state(tab('lost'), 'none'))
          .waitFor();
        expect(await banner('lost').locator('a').first().getAttribute('href')).toBe(`/${CHAIN}/tx/${rivalled.txid}`);
        await banner('lostTransaction')
          .and(state(tab('lostTransaction'), 'conflicting'))
          .waitFor();
        await banner('later')
          .and(state(tab('later'), 'expired'))
          .waitFor();
        await inAddress(mined.txid, 'mined').waitFor();
        await inIdentity('conflicting').waitFor();
      });

      it('there was no reload, no complaint, and no value that the API does not return', async () => {
        for (const [name, { page, complaints }] of Object.entries(tabs)) {
          expect(await page.evaluate(() => Reflect.get(window, 'isSame')), name).toBe(true);
          expect(complaints, name).toEqual([]);
        }
        await photograph();
        await service.settled(true);
        const { page, close } = await openPage(browser);
        await checkView(page, service.url, addresses().tx, 'tx');
        await checkView(page, service.url, addresses().conversion, 'conversion');
        await page.goto(`${service.url}/${CHAIN}/tx/${RIVAL}`);
        await page.locator('main[data-ready=not-found]').waitFor();
        await close();
      });
    });

    it('keeps the page complete where the mempool is unknown', async () => {
      const { page, close } = await openPage(browser);
      await page.route(/unconfirmed=true/, (route) =>
        route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          body: JSON.stringify({ code: 'mempool_unknown', detail: 'not read yet' }),
        }),
      );
      await checkView(page, service.url, addresses().tx, 'tx');
      await checkView(page, service.url, addresses().address, 'address');
      await page.getByText('does not know the mempool of').waitFor();
      await checkView(page, service.url, `/${CHAIN}/identity/${BOB}`, 'identity');
      await close();
    });
  });
}
