import { expect, it } from 'vitest';
import { createExportProgress, type ExportProgress } from './export-progress.ts';

it('a short first day does not inflate the time left', () => {
  const table = { name: 'blocks' };
  const days = [1, 1_440, 1_440, 1_440].map((blocks) => ({ table, day: { from: 1, to: blocks } }));
  const reports: ExportProgress[] = [];
  let now = 0;
  const progress = createExportProgress(
    days,
    (report) => reports.push(report),
    () => now,
  );
  for (const day of days) {
    now += 1_000;
    progress(day, 10);
  }
  expect(reports[0]).toMatchObject({ table: 'blocks', done: 1, total: 4, rows: 10, rowsPerSecond: 10 });
  for (const { done, etaSeconds } of reports) {
    expect(etaSeconds).toBeGreaterThanOrEqual((4 - done) / 3);
    expect(etaSeconds).toBeLessThanOrEqual((4 - done) * 3);
  }
});
