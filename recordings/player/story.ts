/**
 * Replays how the recorded chain came about: at the fork it shows the losing branch first, then switches to the main branch (whose tip was
 * lower at that moment), and continues to the recorded tip, where it stops.
 */
import { type RecordingView, type ViewPosition, viewChain } from './chain-view.ts';
import type { RecordedBranch, Recording } from './recording.ts';

export interface Story {
  readonly view: RecordingView;
  readonly ended: boolean;
  /** Makes one move; does nothing at the end. */
  step(): void;
  /** Jumps to a height of the main branch without showing the abandoned branch. */
  advanceTo(height: number): void;
  /** Loses the newest blocks, as no healthy node does. */
  back(blocks: number): void;
  /** Shows one of the two branches, up to its end unless a height is given. */
  showBranch(branch: RecordedBranch, height?: number): void;
}

export interface StoryOptions {
  readonly startHeight: number;
  /** The first step jumps to this height. */
  readonly historyHeight: number;
}

export function createStory(recording: Recording, { startHeight, historyHeight }: StoryOptions): Story {
  const { fork, tip, takeover, orphans } = recording;
  const orphanTip = fork + orphans.length;
  let position: ViewPosition = { branch: 'main', height: startHeight, orphansKnown: startHeight >= takeover };
  let view = viewChain(recording, position);
  let history = historyHeight > startHeight ? historyHeight : null;

  function show(branch: RecordedBranch, height: number, orphansKnown = position.orphansKnown): void {
    const top = branch === 'orphan' ? orphanTip : tip;
    if (!Number.isInteger(height) || height < 0 || height > top) {
      throw new RangeError(`height ${height} is not on the ${branch} branch (0 to ${top})`);
    }
    position = { branch, height, orphansKnown };
    view = viewChain(recording, position);
  }

  return {
    get view() {
      return view;
    },
    get ended() {
      return view.atRecordedTip;
    },
    step() {
      const { branch, height, orphansKnown } = position;
      if (history !== null) {
        show('main', history, orphansKnown || history >= takeover);
        history = null;
      } else if (branch === 'orphan') {
        if (height < orphanTip) show('orphan', height + 1);
        else show('main', takeover);
      } else if (height === fork && !orphansKnown) show('orphan', fork + 1, true);
      else if (height < tip) show('main', height + 1);
    },
    advanceTo(height) {
      if (history !== null && height >= history) history = null; // the first step would otherwise jump back
      show('main', height, position.orphansKnown || height >= takeover);
    },
    back(blocks) {
      show(position.branch, position.height - blocks);
    },
    showBranch(branch, height = branch === 'orphan' ? orphanTip : tip) {
      show(branch, height, position.orphansKnown || branch === 'orphan' || height >= takeover);
    },
  };
}
