/** The part of a recording that has been released: what the node shows as its chain. */
import type { RecordedBlock, RecordedBranch, Recording } from './recording.ts';

export interface RecordingView {
  readonly recording: Recording;
  readonly branch: RecordedBranch;
  readonly height: number;
  readonly best: RecordedBlock;
  /** Everything is released, so every recorded call was asked at just this tip. */
  readonly atRecordedTip: boolean;
  /** The abandoned branch has been seen. */
  readonly orphansKnown: boolean;
  /** Newest height whose block both branches share and the node has. */
  readonly sharedHeight: number;
  /** The block that comes next on the shown branch; undefined at its end. */
  readonly next: RecordedBlock | undefined;
  /** Block of the shown chain, undefined above its tip. */
  at(height: number): RecordedBlock | undefined;
  /** Any released block, abandoned ones included. */
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
