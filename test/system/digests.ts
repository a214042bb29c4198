/** What a program that has ended left in its stores and topics. */
import type { Digests } from '../../pipeline/verify/store-digests.ts';
import { type ProgramSettings, runCommand } from './program.ts';

export interface Left {
  /** Of every derived table of both stores, whatever branches were seen on the way. */
  readonly digests: Digests;
  /** Records of `blocks`. */
  readonly records: number;
  /** Blocks that the facts topic tells of and does not take back. */
  readonly heights: number;
  /** Records of `facts` that take blocks back. */
  readonly rewinds: number;
  /** Of the facts of those blocks. */
  readonly factsOfBlocks: string;
}

/** @throws Error when the topics are not one record of `facts` for each of `blocks` */
export async function leftBy(settings: ProgramSettings): Promise<Left> {
  const { code, stdout, stderr, output } = await runCommand([], settings, 'test/system/print-digests.ts');
  if (code !== 0 || stderr !== '') throw new Error(`the digests could not be read:\n${output}`);
  return JSON.parse(stdout) as Left;
}
