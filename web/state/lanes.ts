/** The newest blocks of each chain as the stream sent them, and those that it reverted. */
import { signal } from '@preact/signals';

export interface BlockOfLane {
  readonly height: number;
  readonly hash: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly txCount: number;
  readonly isStake: boolean;
  /** Cursor of the event that brought it; null if an answer did. */
  readonly cursor: string | null;
}

/** A range of blocks that a reorganisation removed. */
export interface RevertedRange {
  readonly fromHeight: number;
  readonly toHeight: number;
  /** Milliseconds since the epoch, by this machine. */
  readonly at: number;
  readonly depth: number;
}

export interface Lane {
  /** Newest first. */
  readonly standing: readonly BlockOfLane[];
  readonly undone: readonly (BlockOfLane & { readonly reverted: RevertedRange })[];
  readonly reverted: readonly RevertedRange[];
  /** When the first of the answers that are of another branch was asked for; null while none is. */
  readonly partedAt: number | null;
}

const EMPTY: Lane = { standing: [], undone: [], reverted: [], partedAt: null };
/** As many as /api/stats/pulse shows. */
const MOST_STANDING = 20;
const MOST_UNDONE = 60;
const MOST_RANGES = 20;
/** An undone block is gone when so many newer ones have come. */
const NEWER = 50;
const KEPT_MS = 120_000;
/** An answer that is still of another branch after this is right: the stream's events about it were missed. */
const PARTED_MS = 5_000;

export const lanes = signal<Readonly<Record<string, Lane>>>({});

export const laneOf = (chain: string): Lane => lanes.value[chain] ?? EMPTY;

function setLane(chain: string, lane: Lane): void {
  lanes.value = { ...lanes.value, [chain]: lane };
}

/** What stands again was not taken back after all. */
function stand(chain: string, lane: Lane, blocks: readonly BlockOfLane[]): void {
  const standing = [...blocks].sort((a, b) => b.height - a.height).slice(0, MOST_STANDING);
  const hashes = new Set(standing.map(({ hash }) => hash));
  const tip = standing[0]?.height ?? 0;
  const isKept = ({ height, hash, reverted }: Lane['undone'][number]) =>
    !hashes.has(hash) && tip - height < NEWER && (Date.now() - reverted.at < KEPT_MS || tip - height < MOST_STANDING);
  setLane(chain, { ...lane, standing, undone: lane.undone.filter(isKept) });
}

/** As the stream tells them: a block that replaces another one ends the branch above that, which an answer laid. */
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
 * What an answer says of the newest blocks holds up to its own tip; above it are those that the stream sent. `askedAt`, in
 * milliseconds since the epoch: an answer that was requested before the page learned of a reorganisation may be older than it. One of
 * another branch than the lane is ahead of the stream, which sends first what was reverted, or behind it.
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

/** The stream lost its place: what it sent may no longer be valid. */
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

/** The reorganisation that removed what stood at this height when it was read. */
export function revertedSince(chain: string, height: number, readAt: number): RevertedRange | null {
  return laneOf(chain).reverted.find((range) => range.at >= readAt && height > range.toHeight) ?? null;
}
