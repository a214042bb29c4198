/** Scenario 15: two chains that trade with each other, one of which stops. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type PairedService, type PairedSide, SIDES } from '../../api/paired-service.ts';
import { checkView } from '../generic-check.ts';
import type { Opened } from '../opened-page.ts';
import { laneOf, streamIs } from '../stream-marks.ts';
import { openPage } from '../watched-page.ts';

type Heights = Readonly<Record<PairedSide, number>>;

/** At these heights, the newest blocks of both chains are all of root once root has reached its end. */
const STANDING: Heights = { root: 430, pchain: 220 };
/** Both chains are at about the same time here, with conversions between them still to come. */
const BEFORE: Heights = { root: 438, pchain: 262 };
/** Number of newest blocks of all chains in the answer. */
const LANE = 20;
/** Number of newest blocks of each chain in the answer. */
const OF_EACH = 7;

export function tradingChains(opened: () => Opened, paired: () => PairedService): void {
  describe('scenario 15: two chains', () => {
    let service: PairedService;

    beforeAll(async () => {
      service = paired();
      await reach(STANDING);
    });

    async function reach(heights: Partial<Heights>): Promise<void> {
      for (const side of SIDES) {
        const height = heights[side];
        if (height !== undefined) await service.go(side, height);
      }
      await service.settled();
    }

    async function live() {
      const tab = await openPage(opened().browser);
      await tab.page.goto(service.url);
      await streamIs(tab.page, 'live');
      const tipOf = async (chain: PairedSide) =>
        (await laneOf(tab.page, chain)).find(({ state }) => state === 'standing')?.height;
      return { ...tab, tipOf };
    }

    it('each have a lane, also while one has no new blocks', async () => {
      const { complaints, tipOf, close } = await live();
      await reach({ root: service.tips.root });
      await expect.poll(() => tipOf('root')).toBe(service.tips.root);
      expect(await tipOf('pchain')).toBe(STANDING.pchain);

      // Opened only now: the newest blocks of all chains are those of one, but the other chain keeps its lane.
      const { blocks } = (await (await fetch(`${service.url}/api/stats/pulse`)).json()) as {
        blocks: { chain: string }[];
      };
      expect(new Set(blocks.map(({ chain }) => chain))).toEqual(new Set(['root']));
      const first = await openPage(opened().browser);
      // Prices may be published between the request of the page and that of the test.
      await vi.waitFor(() => checkView(first.page, service.url, '/', 'live'), { timeout: 60_000 });
      for (const [chain, height, length] of [
        ['pchain', STANDING.pchain, OF_EACH],
        ['root', service.tips.root, LANE],
      ] as const) {
        expect((await laneOf(first.page, chain)).map((block) => block.height)).toEqual(
          Array.from({ length }, (_, index) => height - index),
        );
      }
      expect([...complaints, ...first.complaints]).toEqual([]);
      await first.close();
      await close();
    });

    it('mark provisional prices, and remove reverted ones', async () => {
      await reach(BEFORE);
      const { page, complaints, tipOf, close } = await live();
      await reach({ pchain: service.tips.pchain });
      const prices = page.locator('.news li[data-event^=price]');
      await prices.filter({ hasText: 'provisional' }).first().waitFor();
      await reach({ root: service.tips.root });
      await expect.poll(() => prices.filter({ hasText: 'provisional' }).count()).toBe(0);
      expect(await prices.count()).toBeGreaterThan(0);

      // The source of root's prices is gone: an `undo` only of its prices.
      await reach({ pchain: BEFORE.pchain });
      await expect.poll(() => tipOf('pchain')).toBe(BEFORE.pchain);
      const undone = (await laneOf(page, 'pchain')).filter(({ state }) => state === 'undone');
      expect(undone.map(({ height }) => height).reverse()).toEqual(
        Array.from({ length: service.tips.pchain - BEFORE.pchain }, (_, index) => BEFORE.pchain + 1 + index),
      );
      await expect.poll(() => prices.count()).toBe(0);
      expect(await tipOf('root')).toBe(service.tips.root);
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
