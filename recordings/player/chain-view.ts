/** The released part of a recording, which the node shows as its chain. */
import type { RecordedBlock, RecordedBranch, Recording } from './recording.ts';

export interface RecordingView {
  readonly recording: Recording;
  readonly branch: RecordedBranch;
  readonly height: number;
  readonly best: RecordedBlock;
  /** Whether everything is released: the recorded calls were made at this tip. */
  readonly atRecordedTip: boolean;
  /** Whether the abandoned branch has been released. */
  readonly orphansKnown: boolean;
  /** The newest released height whose block both branches share. */
  readonly sharedHeight: number;
  /** The next block of the shown branch; undefined at its end. */
  readonly next: RecordedBlock | undefined;
  /** Returns a block of the shown chain; undefined above its tip. */
  at(height: number): RecordedBlock | undefined;
  /** Returns any released block, including abandoned ones. */
  byHash(hash: string): RecordedBlock | undefined;
  /** Whether a released block is on the shown chain. */
  isActive(block: RecordedBlock): boolean;
}

export interface ViewPosition {
  readonly branch: RecordedBranch;
  readonly height: number;
  readonly orphansKnown: boolean;
}

export function viewChain(recording: Recording, { branch, height, orphansKnown }: ViewPosition): RecordingView {
  const { main, orphans, fork, tip } = recording;
  const at = (wanted: number): RecordedBlock | undefined => {
    if (wanted < 0 || wanted > height) return undefined;
    return branch === 'orphan' && wanted > fork ? orphans[wanted - fork - 1] : main[wanted];
  };
  const best = at(height);
  if (best === undefined) throw new RangeError(`the recording has no block ${height} on its ${branch} branch`);
  const isBeforeFork = branch === 'main' && height === fork && !orphansKnown;
  const isActive = (block: RecordedBlock) => at(block.height) === block;
  return {
    recording,
    branch,
    height,
    best,
    atRecordedTip: branch === 'main' && height === tip,
    orphansKnown,
    next: branch === 'orphan' || isBeforeFork ? orphans[height - fork] : main[height + 1],
    sharedHeight: Math.min(height, branch === 'orphan' ? fork : tip),
    at,
    isActive,
    byHash(hash) {
      const block = recording.byHash.get(hash);
      if (block === undefined) return undefined;
      return isActive(block) || (block.branch === 'orphan' && orphansKnown) ? block : undefined;
    },
  };
}
