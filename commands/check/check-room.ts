/** Checks the free space of a disk. */
import { type Finding, findingsOf } from './finding.ts';

const GIB = 1024 ** 3;
/** With less, a batch of a first sync and ClickHouse's merges can fill the disk within minutes. */
const LEAST_GIB = 2;
/** With less, the operator gets a note; it is the growth of a quiet chain in a year. */
const ENOUGH_GIB = 20;

export function roomFinding(freeBytes: number, subject: string, where: string): Finding {
  const { right, note, wrong } = findingsOf(subject);
  const says = `${(freeBytes / GIB).toFixed(1)} GiB are free on ${where}`;
  if (freeBytes < LEAST_GIB * GIB) return wrong(says, `make room: at least ${LEAST_GIB} GiB, better ${ENOUGH_GIB}`);
  if (freeBytes < ENOUGH_GIB * GIB) return note(says, `plan for ${ENOUGH_GIB} GiB or more`);
  return right(says);
}
