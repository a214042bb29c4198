import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { registry } from '../metrics.ts';
import { diskSpaceOf, watchDiskSpace } from './disk-space.ts';

const folder = mkdtempSync(join(tmpdir(), 'verustream-disk-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const series = async () => (await registry.metrics()).split('\n').filter((line) => /^verustream_disk_/.test(line));

it('measures the disk that a folder will be created on', () => {
  const { blocks, bsize } = statfsSync(folder);
  const space = diskSpaceOf(join(folder, 'not', 'made', 'yet'));
  expect(space.sizeBytes).toBe(blocks * bsize);
  expect(space.freeBytes).toBeGreaterThan(0);
  expect(space.freeBytes).toBeLessThanOrEqual(space.sizeBytes);
});

it('exports free space and size while it watches, and nothing before or after', async () => {
  expect(await series()).toEqual([]);
  const watch = watchDiskSpace(folder, pino({ level: 'silent' }), { everyMs: 5 });
  await expect
    .poll(series)
    .toEqual([
      expect.stringMatching(/^verustream_disk_free_bytes\{folder="data"\} \d+/),
      expect.stringMatching(/^verustream_disk_size_bytes\{folder="data"\} \d+/),
    ]);
  await watch.stop();
  expect(await series()).toEqual([]);
});

it('removes the metrics and logs once when the disk no longer answers', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  let answers = true;
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (!answers) throw new Error('EIO');
    return { bavail: 1, blocks: 2, bsize: 4096 };
  };
  const watch = watchDiskSpace(folder, logger, { everyMs: 5, ask });
  await expect.poll(series).toContain('verustream_disk_free_bytes{folder="data"} 4096');
  answers = false;
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before + 3);
  expect(await series()).toEqual([]);
  await watch.stop();
  expect(lines).toEqual([expect.stringContaining('the free space on the disk of the data folder cannot be read')]);
});
