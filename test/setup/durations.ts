/** Duration of each test file in a whole run, in seconds; missing files took less than half a second. */
import { readFileSync, writeFileSync } from 'node:fs';

export type Durations = Readonly<Record<string, number>>;

const FILE = new URL('./durations.json', import.meta.url);

export function readDurations(): Durations {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Durations;
}

export function writeDurations(durations: Durations): void {
  const rows = Object.entries(durations)
    .map(([file, seconds]) => [file, Math.round(seconds)] as const)
    .filter(([, seconds]) => seconds > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
}
