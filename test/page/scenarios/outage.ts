/** Scenario 2: the service is killed under a live tab, and another one starts 10 seconds later, while the chain has continued. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CHAIN, type RunningService } from '../../api/running-service.ts';
import { reservePort } from '../../support/infra/reserved-port.ts';
import type { Opened } from '../opened-page.ts';
import { laneOf, marksOf, streamIs, watchStream } from '../stream-marks.ts';
import { openPage } from '../watched-page.ts';

const DOWN_MS = 10_000;
/** Blocks before, during and after the outage; the first connection has more messages than the second one begins with. */
const BLOCKS = [8, 3, 2] as const;

/** Needs at least that many further blocks of the recording. */
export function killedService(opened: () => Opened): void {
  describe('a killed service', () => {
    it('scenario 2: is shown as offline, and nothing is lost or duplicated once it is back', async () => {
      const { service, browser } = opened();
      const { page, complaints, close } = await openPage(browser);
      const { port, release } = await reservePort();
      const first = await service.startSecondApi({ servesPage: true, port });
      const base = `http://127.0.0.1:${port}`;
      await watchStream(page);
      await page.goto(base);
      await page.locator('main[data-view=live][data-ready=true]').waitFor();
      await streamIs(page, 'live');
      const newest = async () => (await laneOf(page, CHAIN)).find(({ state }) => state === 'standing')?.height;
      await step(service, BLOCKS[0]);
      await expect.poll(newest).toBe(service.node.height);
      const before = { lane: await laneOf(page, CHAIN), cursor: await cursorOf() };

      await first.kill();
      await streamIs(page, 'offline');
      await step(service, BLOCKS[1]);
      await sleep(DOWN_MS);
      expect(await laneOf(page, CHAIN)).toEqual(before.lane); // the shown blocks stay
      expect(await page.locator('main').getAttribute('data-ready')).toBe('true');
      expect(await page.locator('main').getAttribute('data-stream')).toBe('offline');

      const second = await service.startSecondApi({ servesPage: true, port });
      await streamIs(page, 'live');
      await expect.poll(newest).toBe(service.node.height);
      await step(service, BLOCKS[2]);
      await expect.poll(newest).toBe(service.node.height);
      const { states, sequences } = await marksOf(page);
      expect(states.slice(states.lastIndexOf('offline') - 1)).toEqual(['live', 'offline', 'catching-up', 'live']);
      const again = sequences.findIndex((sequence, index) => sequence < (sequences[index - 1] ?? 0));
      expect(again).toBeGreaterThan(0);
      expect(sequences.slice(again)).toEqual(sequences.slice(again).toSorted((a, b) => a - b));
      expect(await cursorOf()).not.toBe(before.cursor);
      const lane = await laneOf(page, CHAIN);
      expect(lane.map(({ height }) => height)).toEqual(lane.map((_, index) => service.node.height - index));
      const { blocks } = (await (await fetch(`${base}/api/stats/pulse`)).json()) as {
        blocks: { height: number; hash: string }[];
      };
      expect(lane).toEqual(blocks.map(({ height, hash }) => ({ height, hash, state: 'standing' })));
      expect(complaints.filter((text) => !/net::ERR_CONNECTION_(REFUSED|RESET)/.test(text))).toEqual([]);
      await close();
      await second.close();
      release();

      async function cursorOf() {
        return page.locator('main').getAttribute('data-cursor');
      }
    });

    it('waits before showing a new view, and shows it once the service answers again', async () => {
      const { service, browser } = opened();
      const { page, requests, close } = await openPage(browser);
      await page.goto(`${service.url}/${CHAIN}/blocks`);
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      const documents = () => requests.filter((request) => request.isNavigationRequest()).length;
      const context = page.context();
      await context.setOffline(true);
      await page.locator('nav a[href="/market"]').click();
      await page
        .locator('main[data-view=market][data-ready=failed] [role=alert][data-code=unreachable]')
        .first()
        .waitFor();
      await page.goBack(); // views that were opened before still work
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      await page.goForward();
      await page.locator('main[data-view=market][data-ready=failed]').waitFor();
      expect(documents()).toBe(1); // another one would be an error page of the browser
      await context.setOffline(false);
      await page.locator('main[data-view=market][data-ready=true]').waitFor();
      expect(documents()).toBeLessThanOrEqual(2); // Chromium retries a failed file only in a new document
      await close();
    });
  });
}

async function step(service: RunningService, blocks: number): Promise<void> {
  for (let count = 0; count < blocks; count += 1) {
    service.node.step();
    await service.settled();
  }
}
