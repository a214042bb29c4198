/** Metrics of a tab after a garbage collection. */
import type { Page } from 'playwright-core';

export interface TabMetrics {
  readonly nodes: number;
  readonly listeners: number;
  readonly heapBytes: number;
}

export async function metricsOf(page: Page): Promise<TabMetrics> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  // Twice, because objects found unreachable in the first run may keep others alive.
  for (let run = 0; run < 2; run += 1) await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  const value = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return { nodes: value('Nodes'), listeners: value('JSEventListeners'), heapBytes: value('JSHeapUsedSize') };
}
