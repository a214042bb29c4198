/** The newest blocks of each chain as the stream sent them, and the blocks that it reverted. */
import { signal } from '@preact/signals';

export interface BlockOfLane {
  readonly height: number;
  readonly hash: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly txCount: number;
  readonly isStake: boolean;
  /** Cursor of the event that brought the block; null if an answer brought it. */
  readonly cursor: string | null;
}

/** A range of blocks that a reorganisation removed. */
export interface RevertedRange {
  readonly fromHeight: number;
  readonly toHeight: number;
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly at: number;
  readonly depth: number;
}

export interface Lane {
  /** Newest first. */
  readonly standing: readonly BlockOfLane[];
  readonly undone: readonly (BlockOfLane & { readonly reverted: RevertedRange })[];
  readonly reverted: readonly RevertedRange[];
  /** When the first of the current answers of another branch was requested; null while answers match the lane. */
  readonly partedAt: number | null;
}

const EMPTY: Lane = { standing: [], undone: [], reverted: [], partedAt: null };
/** As many as /api/stats/pulse shows. */
const MOST_STANDING = 20;
const MOST_UNDONE = 60;
const MOST_RANGES = 20;
/** An undone block is dropped when the tip is this many blocks above it. */
const NEWER = 50;
const KEPT_MS = 120_000;
/** If answers still show another branch after this time, they are right, and the stream's events about it were missed. */
const PARTED_MS = 5_000;

export const lanes = signal<Readonly<Record<string, Lane>>>({});

export const laneOf = (chain: string): Lane => lanes.value[chain] ?? EMPTY;

function setLane(chain: string, lane: Lane): void {
  lanes.value = { ...lanes.value, [chain]: lane };
}

/** Sets the standing blocks; an undone block that stands again is removed from the undone ones. */
function stand(chain: string, lane: Lane, blocks: readonly BlockOfLane[]): void {
  const standing = [...blocks].sort((a, b) => b.height - a.height).slice(0, MOST_STANDING);
  const hashes = new Set(standing.map(({ hash }) => hash));
  const tip = standing[0]?.height ?? 0;
  const isKept = ({ height, hash, reverted }: Lane['undone'][number]) =>
    !hashes.has(hash) && tip - height < NEWER && (Date.now() - reverted.at < KEPT_MS || tip - height < MOST_STANDING);
  setLane(chain, { ...lane, standing, undone: lane.undone.filter(isKept) });
}

/** Lays blocks from the stream. A block that replaces another one removes the branch above it, which an answer had laid. */
export function layBlocks(chain: string, blocks: readonly BlockOfLane[]): void {
  const lane = laneOf(chain);
  const replaced = lane.standing.filter(({ height, hash }) =>
    blocks.some((block) => block.height === height && block.hash !== hash),
  );
  const lowest = Math.min(...replaced.map(({ height }) => height));
  const heights = new Set(blocks.map(({ height }) => height));
  const kept = lane.standing.filter(({ height }) => height < lowest && !heights.has(height));
  stand(chain, lane, [...kept, ...blocks]);
}

/**
 * Merges an answer: it is valid up to its own tip, and above it the blocks that the stream sent stay. `askedAt` is in milliseconds since
 * the epoch: an answer requested before the page learned of a reorganisation may be older than it. An answer of another branch is either
 * ahead of the stream, which will first send the reverted blocks, or behind it.
 */
export function layAnswer(chain: string, blocks: readonly BlockOfLane[], askedAt: number): void {
  const lane = laneOf(chain);
  if (lane.reverted[0] && lane.reverted[0].at > askedAt) return;
  const partedAt = isOfAnotherBranch(lane, blocks) ? (lane.partedAt ?? askedAt) : null;
  if (partedAt !== null && askedAt - partedAt < PARTED_MS) {
    setLane(chain, { ...lane, partedAt });
    return;
  }
  const tip = Math.max(-1, ...blocks.map(({ height }) => height));
  const newer = partedAt === null ? lane.standing.filter(({ height }) => height > tip) : [];
  stand(chain, { ...lane, partedAt: null }, [...newer, ...blocks]);
}

function isOfAnotherBranch({ standing, undone }: Lane, blocks: readonly BlockOfLane[]): boolean {
  const hashes = new Map(standing.map(({ height, hash }) => [height, hash]));
  const reverted = new Set(undone.map(({ hash }) => hash));
  return blocks.some(({ height, hash }) => (hashes.get(height) ?? hash) !== hash || reverted.has(hash));
}

/** Called when the stream lost its place: blocks that it sent may no longer be valid. */
export function forgetStanding(chain: string): void {
  setLane(chain, { ...laneOf(chain), standing: [] });
}

export function revertTo(
  chain: string,
  { fromHeight, toHeight }: Pick<RevertedRange, 'fromHeight' | 'toHeight'>,
): void {
  const lane = laneOf(chain);
  const reverted = { fromHeight, toHeight, at: Date.now(), depth: fromHeight - toHeight };
  const gone = lane.standing.filter(({ height }) => height > toHeight).map((block) => ({ ...block, reverted }));
  setLane(chain, {
    ...lane,
    partedAt: null,
    standing: lane.standing.filter(({ height }) => height <= toHeight),
    undone: [...gone, ...lane.undone].slice(0, MOST_UNDONE),
    reverted: [reverted, ...lane.reverted].slice(0, MOST_RANGES),
  });
}

/** The reorganisation that removed the block at this height after it was read; null if there was none. */
export function revertedSince(chain: string, height: number, readAt: number): RevertedRange | null {
  return laneOf(chain).reverted.find((range) => range.at >= readAt && height > range.toHeight) ?? null;
}
