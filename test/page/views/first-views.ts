/** The live view, blocks and transactions follow the contract of the marks (generic-check.ts), and the whole page stays within its budgets. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { pageSource } from '../../../web/build/page-source.ts';
import { CHAIN, RECORDING, type RunningService } from '../../api/running-service.ts';
import { checkAccessibility } from '../accessibility.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { type CheckedView, checkView, checkViews, type ViewAddress, withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const KIB = 1024;
const INITIAL_SCRIPT = 60 * KIB;
const FURTHER_VIEW = 45 * KIB;
const ALL_SCRIPT = 250 * KIB;
const ALL_STYLE = 15 * KIB;

/** One recorded transaction of each type. */
function transactionsByType(): string[] {
  const lines = gunzipSync(readFileSync(`${RECORDING}txs.jsonl.gz`))
    .toString()
    .trim()
    .split('\n');
  const byKind = new Map<string, string>();
  for (const line of lines) {
    const { txid, tx } = JSON.parse(line) as { txid: string; tx: { vout: { scriptPubKey: object }[] } };
    const kind = tx.vout.map(({ scriptPubKey }) => Object.keys(scriptPubKey).sort().join()).join(' ');
    if (!byKind.has(kind)) byKind.set(kind, txid);
  }
  return [...byKind.values()];
}

export function firstViews(page: () => OpenedPage): void {
  describe('the page', () => {
    let service: RunningService;
    let browser: Browser;
    const views: readonly ViewAddress[] = [
      ['live', '/'],
      ['blocks', `/${CHAIN}/blocks`],
      ['blocks', `/${CHAIN}/blocks?page=3`],
      ['block', `/${CHAIN}/block/0`],
      ['block', `/${CHAIN}/block/676`],
      ['block', `/${CHAIN}/block/846`],
      ['tx', `/${CHAIN}/tx/384dc81fe3dd78fada3597fb8d5af0b5555811b9737200d304efffc46b1dee7d`],
    ];

    beforeAll(() => {
      ({ service, browser } = page());
    });

    it.each(views)('%s at %s shows the answers of the API', async (view, address) => {
      const { page, complaints, requests, close } = await openPage(browser);
      const checked: CheckedView = await checkView(page, service.url, address, view);
      expect(checked.values).toBeGreaterThan(10);
      expect(complaints).toEqual([]);
      const elsewhere = requests.map((request) => request.url()).filter((url) => !url.startsWith(service.url));
      expect(elsewhere.filter((url) => !url.startsWith('data:'))).toEqual([]);
      await close();
    });

    it('shows a transaction of every form in the recording', async () => {
      const txids = transactionsByType();
      expect(txids.length).toBeGreaterThan(20);
      const { page, complaints, close } = await openPage(browser);
      const views = txids.map((txid) => ['tx', `/${CHAIN}/tx/${txid}`] as const);
      let checked = 0;
      for await (const { values } of checkViews(page, service.url, views)) checked += Math.sign(values);
      expect(checked).toBe(txids.length);
      expect(complaints).toEqual([]);
      await close();
    });

    it('stays within its budgets of bytes, requests, credits and layout shift', async () => {
      const { files, script, imports, modules } = await pageSource.build();
      const bytes = (names: readonly string[]) =>
        names.reduce((sum, name) => sum + (files.get(name)?.gzip.byteLength ?? Number.NaN), 0);
      const ofType = (ending: string) => [...files.keys()].filter((name) => name.endsWith(ending));
      const first = bytes([script, ...imports, ...(modules.get('web/views/live.tsx') ?? [])]);
      console.log(`page: first script ${first} B gzip, all ${bytes(ofType('.js'))}, style ${bytes(ofType('.css'))}`);
      expect(first).toBeLessThanOrEqual(INITIAL_SCRIPT);
      for (const [module, names] of modules) expect(bytes(names), module).toBeLessThanOrEqual(FURTHER_VIEW);
      expect(bytes(ofType('.js'))).toBeLessThanOrEqual(ALL_SCRIPT);
      expect(bytes(ofType('.css'))).toBeLessThanOrEqual(ALL_STYLE);
      const addresses = views.map(([, address]) => address);
      await checkFirstPaint(browser, service.url, addresses);
    });

    it('is accessible in both themes, narrow and wide', async () => {
      await checkAccessibility(browser, service.url, views);
    });

    it('reports unknown objects', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, `/${CHAIN}/block/99999999`));
      await page.locator('main[data-view="block"][data-ready="not-found"] [role=alert]').first().waitFor();
      const unknown = await page.goto(`${service.url}/no/such/page`);
      expect(unknown?.status()).toBe(404);
      await page.locator('main[data-view="not-found"][data-ready="not-found"]').waitFor();
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
