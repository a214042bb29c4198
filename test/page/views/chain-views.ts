/** Views of a chain's explorer: conversion, address, identity, currency, and the lists that link to them. */
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ALICE, CHAIN, NATIVE, type RunningService } from '../../api/running-service.ts';
import { checkAccessibility } from '../accessibility.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { type CheckedView, checkView, checkViews, type ViewAddress, withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

interface Conversion {
  readonly txid: string;
  readonly vout: number;
  readonly status: 'pending' | 'completed' | 'refunded' | 'unmatched';
  readonly type: string;
  readonly rule: string;
  readonly source: string | null;
}

interface Update {
  readonly height: number;
  readonly kind: string;
  readonly changes: readonly unknown[];
}

export function chainViews(page: () => OpenedPage): void {
  describe('the views of a chain', () => {
    let service: RunningService;
    let browser: Browser;
    let conversions: readonly Conversion[];
    let identities: readonly { readonly identityAddress: string; readonly name: string; readonly status: string }[];

    beforeAll(async () => {
      ({ service, browser } = page());
      conversions = await everyRow('/api/conversions/?pageSize=200');
      identities = await everyRow('/api/identity/?pageSize=200');
    });

    const answer = async <Answer>(path: string): Promise<Answer> => (await fetch(`${service.url}${path}`)).json();

    async function everyRow<Row>(path: string): Promise<Row[]> {
      const rows: Row[] = [];
      for (let page = 1; ; page++) {
        const { results, totalPages } = await answer<{ results: Row[]; totalPages: number }>(`${path}&page=${page}`);
        rows.push(...results);
        if (page >= totalPages) return rows;
      }
    }

    /** The first row of each kind. */
    const ofEachKind = <Row>(rows: readonly Row[], kindOf: (row: Row) => string) =>
      [...Map.groupBy(rows, kindOf).values()].flatMap(([first]) => (first === undefined ? [] : [first]));

    const addressOf = ({ txid, vout }: Conversion) => `/${CHAIN}/conversion/${txid}/${vout}`;

    /** One address of each kind of object in the recording. */
    const oneOfEach = (): readonly ViewAddress[] => {
      const [settled] = conversions.filter(({ rule, type }) => rule === 'to_side' && type === 'via');
      return [
        ['conversion', addressOf(settled as Conversion)],
        ['address', `/${CHAIN}/address/${ALICE}`],
        ['identity', `/${CHAIN}/identity/alice@`],
        ['identities', `/${CHAIN}/identities`],
        ['currency', `/${CHAIN}/currency/PureTri`],
        ['currencies', `/${CHAIN}/currencies`],
        ['stakes', `/${CHAIN}/stakes`],
        ['richlist', `/${CHAIN}/richlist`],
        ['bridge', `/${CHAIN}/bridge`],
        ['chain', `/${CHAIN}`],
        ['status', '/status'],
        ['search', '/search?q=alice@'],
      ];
    };

    async function checked(addresses: readonly ViewAddress[]): Promise<readonly CheckedView[]> {
      const { page, complaints, close } = await openPage(browser);
      const found: CheckedView[] = [];
      for await (const view of checkViews(page, service.url, addresses)) found.push(view);
      expect(complaints).toEqual([]);
      await close();
      return found;
    }

    async function opened(view: string, address: string): Promise<{ page: Page; close: () => Promise<void> }> {
      const { page, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, address));
      await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
      return { page, close };
    }

    it('show a conversion of each status, type and rule, with its required fields', async () => {
      const kinds = ofEachKind(conversions, ({ status, type, rule }) => `${status} ${type} ${rule}`);
      expect(new Set(kinds.map(({ status }) => status)).size).toBeGreaterThanOrEqual(3);
      const views = await checked(kinds.map((row) => ['conversion', addressOf(row)]));
      for (const [index, { txid, vout }] of kinds.entries()) {
        const { data } = await answer<{ data: { txid: string; vout: number; steps: unknown[] | null }[] }>(
          `/api/oracle/conversions/${txid}?explain=true`,
        );
        const valued = data.findIndex((row) => row.txid === txid && row.vout === vout);
        const transaction = await answer<{ conversions: Conversion[] }>(`/api/tx/${txid}?chain=${CHAIN}`);
        const leg = transaction.conversions.findIndex((row) => row.txid === txid && row.vout === vout);
        const steps = (data[valued]?.steps ?? []).flatMap((_, step) => [
          `steps/${step}/value`,
          `steps/${step}/expression`,
        ]);
        const ofStamp = 'status amountIn amountOut fromUsd toUsd usdValue rule regime priceHeight diverged provisional';
        for (const field of [...ofStamp.split(' '), ...steps]) {
          expect(views[index]?.pointers).toContain(`/api/oracle/conversions/${txid} /data/${valued}/${field}`);
        }
        for (const field of ['type', 'price', 'fee']) {
          expect(views[index]?.pointers).toContain(`/api/tx/${txid} /conversions/${leg}/${field}`);
        }
      }
    });

    it('draw the stages of a conversion by its status', async () => {
      const ways = {
        pending: ['request done', 'export waiting', 'import waiting', 'payout waiting'],
        completed: ['request done', 'export done', 'import done', 'payout done'],
        refunded: ['request done', 'export done', 'import done', 'payout refunded'],
      };
      for (const [status, way] of Object.entries(ways)) {
        const row = conversions.find((conversion) => conversion.status === status);
        const { page, close } = await opened('conversion', addressOf(row as Conversion));
        const stages = await page
          .locator('[data-testid=flow] > [data-stage]')
          .evaluateAll((all) =>
            all.map((stage) => `${stage.getAttribute('data-stage')} ${stage.getAttribute('data-state')}`),
          );
        expect(stages, status).toEqual(way);
        await close();
      }
    });

    it('draw a line for each step that another step uses', async () => {
      const { page, close } = await opened('conversion', oneOfEach()[0]?.[1] ?? '');
      const steps = page.locator('[data-testid=explanation] > ol > li');
      const numbers = await steps.evaluateAll((all) => all.map((step) => Number(step.getAttribute('data-step'))));
      expect(numbers.length).toBeGreaterThan(3);
      expect(numbers).toEqual([...numbers.keys()]);
      const uses = await page.locator('[data-derived=uses]').allTextContents();
      const lines = uses.reduce((sum, text) => sum + text.split(',').length, 0);
      await expect.poll(() => page.locator('.edges path').count()).toBe(lines);
      await close();
    });

    it('show an address of each kind in each tab', async () => {
      const { results } = await answer<{ results: { address: string; type: string }[] }>('/api/richlist/top?limit=500');
      const staker = (await everyRow<{ address: string }>('/api/stakes/?pageSize=200'))[0]?.address;
      const source = conversions.find((row) => row.source !== null)?.source;
      const addresses = [...ofEachKind(results, ({ type }) => type).map(({ address }) => address), staker, source];
      const tabs = ['', '?tab=rewards', '?tab=conversions'];
      const views = await checked(
        addresses.flatMap((address) =>
          tabs.map((tab): ViewAddress => ['address', `/${CHAIN}/address/${address}${tab}`]),
        ),
      );
      const [first] = views;
      const path = `/api/address/${addresses[0]}`;
      for (const field of ['/native', '/received', '/balances/0/balance']) {
        expect(first?.pointers).toContain(`${path}/balance ${field}`);
      }
      expect(first?.pointers).toContain(`${path} /results/0/net`);
      const [short] = await checked([['address', `/address/${ALICE}`]]);
      expect(short?.values).toBeGreaterThan(10);
    });

    it('show every identity, with its required fields', async () => {
      expect(new Set(identities.map(({ status }) => status)).size).toBeGreaterThanOrEqual(3);
      const views = await checked(
        identities.map(({ identityAddress }) => ['identity', `/${CHAIN}/identity/${identityAddress}`]),
      );
      const required = [
        'status flags timelock unlockHeight blocksToUnlock revocationauthority recoveryauthority primaryaddresses/0',
        'lastUpdate/height lastUpdate/time',
      ].flatMap((names) => names.split(' '));
      for (const [index, { identityAddress }] of identities.entries()) {
        const path = `/api/identity/${identityAddress}`;
        for (const field of required) expect(views[index]?.pointers).toContain(`${path} /${field}`);
        const updates = await answer<Update[]>(`${path}/changes?chain=${CHAIN}`);
        for (const [update, { changes }] of updates.entries()) {
          for (const change of changes.keys()) {
            const pointers = [...(views[index]?.pointers ?? [])];
            for (const member of ['field', 'old', 'new']) {
              const wanted = `${path}/changes /${update}/changes/${change}/${member}`;
              expect(
                pointers.some((pointer) => pointer === wanted || pointer.startsWith(`${wanted}/`)),
                wanted,
              ).toBe(true);
            }
          }
        }
      }
    });

    it('show the content and the referrals of identities', async () => {
      const kinds = new Map<string, ViewAddress>();
      for (const { identityAddress } of identities) {
        const path = `/api/identity/${identityAddress}`;
        const { contentmultimap } = await answer<{ contentmultimap: object }>(`${path}/multimap`);
        const { total, subIds } = await answer<{ total: number; subIds: unknown[] }>(`${path}/referrals`);
        const address = `/${CHAIN}/identity/${identityAddress}`;
        kinds.set(`content ${Object.keys(contentmultimap).length}`, ['identity', `${address}?tab=content`]);
        kinds.set(`referrals ${total > 0} ${subIds.length > 0}`, ['identity', `${address}?tab=referrals`]);
      }
      expect(kinds.size).toBeGreaterThanOrEqual(4);
      await checked([...kinds.values()]);
    });

    it('show an identity at each of its changes, and a block before and after', async () => {
      const vault = identities.filter(({ status }) => status !== 'unlocked');
      const statuses = new Set<string>();
      for (const { identityAddress } of [...vault, { identityAddress: ALICE }]) {
        const updates = await answer<Update[]>(`/api/identity/${identityAddress}/changes?chain=${CHAIN}`);
        const registered = updates.at(-1)?.height ?? 0;
        const heights = new Set(updates.flatMap(({ height }) => [height - 1, height, height + 1]));
        heights.delete(registered - 1);
        await checked(
          [...heights].map((height) => ['identity', `/${CHAIN}/identity/${identityAddress}?height=${height}`]),
        );
        for (const height of heights) {
          const path = `/api/identity/${identityAddress}?height=${height}`;
          statuses.add((await answer<{ status: string }>(path)).status);
        }
      }
      expect([...statuses].sort()).toEqual(['locked', 'revoked', 'unlocked', 'unlocking']);
    });

    it('move an identity through its heights by the keyboard', async () => {
      const updates = await answer<Update[]>(`/api/identity/${ALICE}/changes?chain=${CHAIN}`);
      const { page, close } = await opened('identity', `/${CHAIN}/identity/${ALICE}`);
      const slider = page.getByRole('slider', { name: 'Height' });
      const asked = () => page.locator('section:has([data-testid=lock])').getAttribute('data-src');
      await slider.focus();
      for (const { height } of updates.slice(0, 3)) {
        await page.keyboard.press('ArrowLeft');
        await expect.poll(asked).toContain(`height=${height}`);
        expect(await slider.getAttribute('aria-valuetext')).toContain(`${height}, `);
        expect(new URL(page.url()).searchParams.get('height')).toBe(String(height));
      }
      expect(await slider.evaluate((input) => input === document.activeElement)).toBe(true);
      await page.getByRole('button', { name: 'Now', exact: true }).click();
      await expect.poll(asked).not.toContain('height=');
      await page.getByRole('tab', { name: 'History' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tab', { name: 'Content', selected: true }).waitFor();
      await page.locator('[data-src*="/multimap"]').waitFor();
      await close();
    });

    it('name no block when the address has a text instead of a height', async () => {
      const { page, close } = await openPage(browser);
      for (const height of ['abc', '1e3', '-5']) {
        await page.goto(withoutStream(service.url, `/${CHAIN}/identity/${ALICE}?height=${height}`));
        await page.locator('[role=alert][data-code="invalid_parameter"]').first().waitFor();
        await expect.poll(() => page.locator('output[data-derived=height]').textContent()).toBe('not a height');
        expect(await page.getByRole('slider', { name: 'Height' }).getAttribute('aria-valuetext')).toBe('not a height');
      }
      await page.getByRole('button', { name: 'Now', exact: true }).click();
      await expect.poll(() => page.locator('output[data-derived=height]').textContent()).toMatch(/^now/);
      await close();
    });

    it('request only the height at which the slider stops, not those that it passed', async () => {
      const updates = await answer<Update[]>(`/api/identity/${ALICE}/changes?chain=${CHAIN}`);
      const passed = updates.slice(0, 4).map(({ height }) => String(height));
      expect(new Set(passed).size).toBe(4);
      const { page, requests, close } = await openPage(browser);
      await page.clock.install();
      await page.goto(withoutStream(service.url, `/${CHAIN}/identity/${ALICE}`));
      await page.locator('main[data-ready=true]').waitFor();
      await page.clock.pauseAt(Date.now() + 3_600_000);
      const heights = () =>
        requests
          .map((request) => new URL(request.url()))
          .filter(({ pathname }) => pathname === `/api/identity/${ALICE}`)
          .map(({ searchParams }) => searchParams.get('height'));
      const slider = page.getByRole('slider', { name: 'Height' });
      const words = () => slider.getAttribute('aria-valuetext');
      await slider.focus();
      for (const height of passed) {
        await page.keyboard.press('ArrowLeft');
        await expect.poll(words).toMatch(new RegExp(`^${height}, `));
        await page.clock.runFor(100);
      }
      await page.clock.runFor(1_000);
      await page
        .locator(`section[data-src*="height=${passed.at(-1)}"]`)
        .first()
        .waitFor();
      expect(heights()).toEqual([null, passed.at(-1)]);
      expect(await words()).toMatch(new RegExp(`^${passed.at(-1)}, `));

      // A change by another control takes effect at once and is not undone later.
      await page.keyboard.press('ArrowRight');
      await expect.poll(words).toMatch(new RegExp(`^${passed.at(-2)}, `));
      await page.getByRole('button', { name: 'Now', exact: true }).click();
      await expect.poll(words).toBe('now');
      await page.clock.runFor(1_000);
      expect(new URL(page.url()).searchParams.get('height')).toBeNull();
      await close();
    });

    it('show every currency', async () => {
      const { currencies } = await answer<{ currencies: { currencyId: string }[] }>('/api/conversions/filters');
      expect(currencies.length).toBeGreaterThan(5);
      await checked(currencies.map(({ currencyId }) => ['currency', `/${CHAIN}/currency/${currencyId}`]));
    });

    it('show the lists, the figures and the state of the service, page by page', async () => {
      const views = await checked([
        ['identities', `/${CHAIN}/identities`],
        ['stakes', `/${CHAIN}/stakes?page=2`],
        ['richlist', `/${CHAIN}/richlist?limit=10`],
        ['bridge', `/${CHAIN}/bridge`],
        ['chain', `/${CHAIN}`],
        ['chain', `/${CHAIN}?height=0`],
        ['chain', `/${CHAIN}?height=700`],
        ['currencies', `/${CHAIN}/currencies`],
        ['currencies', `/${CHAIN}/currencies?type=basket&launch=refunding`],
        ['identities', `/${CHAIN}/identities?status=revoked`],
        ['status', '/status'],
      ]);
      const figures = await answer<object>(`/api/stats/network?chain=${CHAIN}`);
      for (const field of Object.keys(figures).filter((name) => name !== 'chain' && name !== 'figuresAt')) {
        expect(views[4]?.pointers).toContain(`/api/stats/network /${field}`);
      }
      for (const field of ['lag', 'deadLetters', 'audit/state']) {
        expect(views.at(-1)?.pointers).toContain(`/api/stats/status /chains/${CHAIN}/${field}`);
      }
    });

    it('link from a search result to its view', async () => {
      const [{ txid } = { txid: '' }] = conversions;
      const queries: Readonly<Record<string, string>> = {
        'alice@': 'identity',
        PureTri: 'currency',
        846: 'block',
        [txid]: 'tx',
        [NATIVE]: 'currency',
      };
      const { page, close } = await openPage(browser);
      for (const [query, view] of Object.entries(queries)) {
        await checkView(page, service.url, `/search?q=${encodeURIComponent(query)}`, 'search');
        await page.locator(`main td a[href*="/${view}/"]`).first().click();
        await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
      }
      await close();
    });

    it('report unknown objects', async () => {
      const [{ txid } = { txid: '' }] = conversions;
      const { page, complaints, close } = await openPage(browser);
      for (const address of [
        `conversion/${txid}/4000`,
        `conversion/${'0'.repeat(64)}/0`,
        'identity/nobody.at.all@',
        'currency/nothing',
      ]) {
        await page.goto(withoutStream(service.url, `/${CHAIN}/${address}`));
        await page.locator('main[data-ready="not-found"] [role=alert]').first().waitFor();
      }
      expect(complaints).toEqual([]);
      await close();
    });

    it('stay within their budgets of requests, credits and layout shift', async () => {
      const addresses = oneOfEach().map(([, address]) => address);
      await checkFirstPaint(browser, service.url, addresses);
    });

    it('are accessible in both themes, narrow and wide', async () => {
      const views: readonly ViewAddress[] = [
        ...oneOfEach(),
        ['identity', `/${CHAIN}/identity/alice@?tab=referrals&height=270`],
        ['address', `/${CHAIN}/address/${ALICE}?tab=conversions`],
      ];
      await checkAccessibility(browser, service.url, views);
    });
  });
}
