/** What a tab holds, after the browser has collected its garbage. */
import type { Page } from 'playwright-core';

export interface TabMetrics {
  readonly nodes: number;
  readonly listeners: number;
  readonly heapBytes: number;
}

export async function metricsOf(page: Page): Promise<TabMetrics> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  // Twice: what the first run finds unreachable may hold other things.
  for (let run = 0; run < 2; run += 1) await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  const value = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return { nodes: value('Nodes'), listeners: value('JSEventListeners'), heapBytes: value('JSHeapUsedSize') };
}
