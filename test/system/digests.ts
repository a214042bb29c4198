/** The contents of stores and topics that an ended program left behind. */
import type { Digests } from '../../pipeline/verify/store-digests.ts';
import { type ProgramSettings, runCommand } from './program.ts';

export interface Left {
  /** Digests of every derived table of both stores; they do not depend on abandoned branches. */
  readonly digests: Digests;
  /** Number of records of `blocks`. */
  readonly records: number;
  /** Number of blocks that the facts topic contains and does not rewind. */
  readonly heights: number;
  /** Number of rewind records of `facts`. */
  readonly rewinds: number;
  /** Digest of the facts of those blocks. */
  readonly factsOfBlocks: string;
}

/** @throws Error unless the topics have exactly one record of `facts` for each of `blocks` */
export async function leftBy(settings: ProgramSettings): Promise<Left> {
  const { code, stdout, stderr, output } = await runCommand([], settings, 'test/system/print-digests.ts');
  if (code !== 0 || stderr !== '') throw new Error(`the digests could not be read:\n${output}`);
  return JSON.parse(stdout) as Left;
}
